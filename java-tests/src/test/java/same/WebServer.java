package same;

import java.net.URL;
import java.util.Collections;
import java.util.Map;
import java.util.Scanner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.embedded.tomcat.TomcatWebServer;
import org.springframework.boot.web.servlet.context.ServletWebServerApplicationContext;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import subject.Say;

/** A web server of Spring Boot and Tomcat that has answered some requests and ended its threads. Runs on Java 8. */
@SpringBootConfiguration
@EnableAutoConfiguration
@RestController
public class WebServer {
    private static final int REQUESTS = 200;

    public static void main(String[] args) throws Exception {
        // A connection that is kept has a thread, which would end between two dumps.
        System.setProperty("http.keepAlive", "false");
        ServletWebServerApplicationContext context = (ServletWebServerApplicationContext) SpringApplication.run(WebServer.class,
                "--server.port=0", "--server.address=127.0.0.1", "--server.tomcat.background-processor-delay=-1s",
                "--spring.main.banner-mode=off", "--logging.level.root=ERROR");
        TomcatWebServer server = (TomcatWebServer) context.getWebServer();
        int port = server.getPort();
        for (int i = 0; i < REQUESTS; i++) {
            try (Scanner answer = new Scanner(new URL("http://127.0.0.1:" + port + "/squares/" + i).openStream())) {
                Say.line(answer.nextLine());
            }
        }
        // Its threads wake each second, which would change the heap between two dumps.
        server.stop();
        Quiet.collections();
        System.gc();
        Quiet.collections();
        for (String word = Say.ready(); word.equals("collections"); word = Say.hear()) {
            Quiet.collections();
        }
        System.exit(0);
    }

    @GetMapping("/squares/{number}")
    public Map<String, Integer> square(@PathVariable("number") int number) {
        return Collections.singletonMap("square", number * number);
    }
}
