package threads;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import subject.Say;

/** Virtual threads, most parked away from any carrier and one that holds its own. */
public class Virtual {
    static final int PARKED = 500;
    static final List<Thread> THREADS = new ArrayList<>();
    static volatile boolean going = true;

    static class Task implements Runnable {
        final CountDownLatch latch;
        final boolean busy;

        Task(CountDownLatch latch, boolean busy) {
            this.latch = latch;
            this.busy = busy;
        }

        @Override
        public void run() {
            latch.countDown();
            while (going) {
                if (busy) {
                    Thread.onSpinWait();
                } else {
                    LockSupport.park();
                }
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        start(PARKED, false);
        for (Thread thread : THREADS) {
            while (thread.getState() != Thread.State.WAITING) {
                Thread.yield();
            }
        }
        start(1, true);
        Say.expect(PARKED + 1, Task.class);
        Say.ready();
        going = false;
        THREADS.forEach(LockSupport::unpark);
        for (Thread thread : THREADS) {
            thread.join();
        }
    }

    private static void start(int count, boolean busy) throws InterruptedException {
        CountDownLatch latch = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            THREADS.add(Thread.ofVirtual().name("virtual-" + busy + "-" + i).start(new Task(latch, busy)));
        }
        latch.await();
    }
}
