package threads;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import subject.Say;

/** Two hundred and fifty threads, each two hundred frames deep, with an object at the end that only a local variable holds. */
public class Deep {
    static final int THREADS = 250;
    static final int DEPTH = 200;

    private static final CountDownLatch STOOD = new CountDownLatch(THREADS);
    private static final CountDownLatch END = new CountDownLatch(1);

    static class Local {}

    public static void main(String[] args) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(() -> dig(DEPTH), "deep-" + i);
            thread.start();
            threads.add(thread);
        }
        STOOD.await();
        Say.expect(THREADS, Local.class);
        Say.ready();
        END.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        Say.line("ENDED");
    }

    private static void dig(int depth) {
        if (depth > 0) {
            dig(depth - 1);
            return;
        }
        Local local = new Local();
        STOOD.countDown();
        try {
            END.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        if (local.hashCode() == 0) {
            Say.line(local);
        }
    }
}
