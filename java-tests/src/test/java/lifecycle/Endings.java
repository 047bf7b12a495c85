package lifecycle;

import java.util.concurrent.CountDownLatch;
import subject.Say;

/** Ends in the way that a word names. */
public class Endings {
    static final Endings[] KEPT = {new Endings(), new Endings()};

    public static void main(String[] args) {
        Say.expect(2, Endings.class);
        switch (args[0]) {
            case "main":
                return;
            case "exit":
                System.exit(3);
                return;
            case "halt":
                Runtime.getRuntime().halt(4);
                return;
            case "exception":
                throw new IllegalStateException("on purpose");
            case "daemons":
                daemons();
                return;
            case "otherThread":
                new Thread(() -> System.exit(5)).start();
                return;
            case "hook":
                Runtime.getRuntime().addShutdownHook(new Thread(() -> Say.line("HOOK")));
                System.exit(6);
                return;
            default:
                throw new IllegalArgumentException(args[0]);
        }
    }

    private static void daemons() {
        CountDownLatch running = new CountDownLatch(10);
        for (int i = 0; i < 10; i++) {
            Thread thread = new Thread(() -> {
                running.countDown();
                for (long sum = 0; ; sum++) {
                    Thread.yield();
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        while (running.getCount() > 0) {
            Thread.yield();
        }
    }
}
