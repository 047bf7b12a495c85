package harm;

import subject.Say;

/**
 * Ends on request, while a daemon thread starts threads and waits for their end without end. Their stacks are so large that the
 * C library keeps none of them for the next thread, nor those of other threads that have ended.
 */
public class Leaving {
    private static final long STACK_BYTES = 64L << 20;

    public static void main(String[] args) {
        Thread churn = new Thread(Leaving::churn, "churn");
        churn.setDaemon(true);
        churn.start();
        Say.ready();
    }

    private static void churn() {
        for (int round = 1; ; round++) {
            Thread[] threads = new Thread[8];
            for (int i = 0; i < threads.length; i++) {
                threads[i] = new Thread(null, () -> { }, "short", STACK_BYTES);
                threads[i].start();
            }
            for (Thread thread : threads) {
                try {
                    thread.join();
                } catch (InterruptedException e) {
                    return;
                }
            }
            Say.line("ROUND", round);
        }
    }
}
