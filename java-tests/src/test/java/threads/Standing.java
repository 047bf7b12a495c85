package threads;

import java.util.concurrent.CountDownLatch;
import subject.Say;

/** A daemon thread that stands for ever with an object that only its local variable holds, while the JVM ends. */
public class Standing {
    private static final CountDownLatch NEVER = new CountDownLatch(1);

    static class Local {}

    public static void main(String[] args) {
        Thread thread = new Thread(Standing::stand, "standing");
        thread.setDaemon(true);
        thread.start();
        while (thread.getState() != Thread.State.WAITING) {
            Thread.yield();
        }
        Say.expect(1, Local.class);
        Say.ready();
    }

    private static void stand() {
        Local local = new Local();
        try {
            NEVER.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        Say.line(local);
    }
}
