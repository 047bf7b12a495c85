package shop;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** An application that keeps something secret in its heap. */
@SpringBootApplication
public class Shop {
    /** Made while it runs, so that it stands in no class file. */
    final String cardNumber = new StringBuilder("5961 8264 5018 0024").reverse().toString();

    public static void main(String[] arguments) {
        SpringApplication.run(Shop.class, arguments);
    }
}
