package redaction;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import subject.Say;

/** Holds secrets in every place that a dump has for values; none of them stands in a class file. */
public class Planted {
    static final Planted KEPT = new Planted();
    static final long STATIC = number(3);
    static final String STATIC_TEXT = text('c');
    final long field = number(5);
    final String latin = text('l');
    final String wide = text('w') + '\u20AC';
    final char[] chars = text('h').toCharArray();
    final byte[] bytes = text('b').getBytes(StandardCharsets.UTF_8);
    final long[] numbers = {number(7)};
    /** The environment as the JDK holds it. */
    static Map<String, String> environment;

    /** Thirty letters that no name has. */
    static String text(char letter) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 10; i++) {
            text.append(letter).append("Zq");
        }
        return text.toString();
    }

    static long number(long seed) {
        return seed * 0x0102_0408_1020_4081L;
    }

    public static void main(String[] args) throws InterruptedException {
        environment = System.getenv();
        Object lock = new Object();
        Thread thread = new Thread(new ThreadGroup(text('g')), () -> {
            synchronized (lock) {
                lock.notify();
                try {
                    lock.wait();
                } catch (InterruptedException end) {
                    // the test is over
                }
            }
        }, text('t'));
        thread.setDaemon(true);
        synchronized (lock) {
            thread.start();
            lock.wait();
        }
        Say.ready();
    }
}
