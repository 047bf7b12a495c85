package text;

import java.time.LocalDateTime;
import subject.Say;

/** Prints the time where it runs, once at the start and then after each word. Runs on Java 8. */
public class Clock {
    public static void main(String[] args) {
        Say.line("LOCAL", LocalDateTime.now());
        String word = Say.ready();
        while (!"exit".equals(word)) {
            Say.line("LOCAL", LocalDateTime.now());
            word = Say.hear();
        }
    }
}
