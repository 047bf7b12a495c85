package engines;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import subject.Say;

/**
 * A thousand virtual threads, each with an object that only its own stack holds: most are parked, some wait inside a
 * monitor (until Java 23 that pins them to their carriers), some are busy on their carriers. Compiled for Java 8, runs
 * on 21.
 */
public class Markers {
    static final int PARKED = 990;
    static final int PINNED = 6;
    static final int BUSY = 4;
    /** Each busy or pinned thread keeps a carrier; the others need one to come to where they stand. */
    static final int CARRIERS = PINNED + BUSY + 2;

    static final List<Thread> THREADS = new ArrayList<>();
    static final AtomicLong SUM = new AtomicLong();
    private static final CountDownLatch NEVER_YET = new CountDownLatch(1);
    private static final CountDownLatch SPINNING = new CountDownLatch(BUSY);
    static volatile boolean told;
    static long turns;

    /** It knows its thread, but nothing but a frame of that thread knows it. */
    static final class Marker {
        final int number;
        final Thread owner = Thread.currentThread();

        Marker(int number) {
            this.number = number;
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < PARKED + PINNED; i++) {
            int number = i;
            start(number < PARKED ? () -> park(number) : () -> pin(number));
        }
        for (Thread thread : THREADS) {
            while (thread.getState() != Thread.State.WAITING) {
                Thread.yield();
            }
        }
        for (int i = PARKED + PINNED; i < PARKED + PINNED + BUSY; i++) {
            int number = i;
            start(() -> spin(number));
        }
        SPINNING.await();
        Say.expect(PARKED + PINNED + BUSY, Marker.class);
        Say.ready();
        told = true;
        NEVER_YET.countDown();
        for (Thread thread : THREADS) {
            thread.join();
        }
        Say.line("SUM", SUM);
    }

    private static void start(Runnable task) throws ReflectiveOperationException {
        THREADS.add((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task));
    }

    private static void park(int number) {
        Marker marker = new Marker(number);
        await();
        SUM.addAndGet(marker.number);
    }

    private static void pin(int number) {
        Marker marker = new Marker(number);
        synchronized (new Object()) {
            await();
        }
        SUM.addAndGet(marker.number);
    }

    private static void spin(int number) {
        Marker marker = new Marker(number);
        SPINNING.countDown();
        loop();
        SUM.addAndGet(marker.number);
    }

    /** In a frame of its own, as the compiler replaces that of a loop while it runs. */
    private static void loop() {
        while (!told) {
            turns++;
        }
    }

    private static void await() {
        try {
            NEVER_YET.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
