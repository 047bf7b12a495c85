// uses     org.springframework:spring-context:5.3.39
// java     17
// largest  (?i)spring|Bean
package healthy;

import java.util.function.Supplier;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** An application that is up and has nothing to do. */
public final class SpringAtRest {
    static AnnotationConfigApplicationContext context;

    @Configuration
    public static class Beans {
        @Bean
        public Supplier<String> clock() {
            return () -> "noon";
        }

        @Bean
        public Thread worker(Supplier<String> clock) {
            return new Thread(clock.get());
        }
    }

    public static void main(String[] args) {
        context = new AnnotationConfigApplicationContext(Beans.class);
        for (int i = 0; i < 500; i++) {
            context.registerBean("service" + i, StringBuilder.class, () -> new StringBuilder("ready"));
            context.getBean("service" + i);
        }
    }
}
