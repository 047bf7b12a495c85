package monitors;

import java.util.concurrent.CountDownLatch;
import subject.Say;

/** Three places where a thread must wait for a monitor, so often and so long as it measures itself; twice. */
public class Contending {
    static class First {}

    static class Second {}

    static class Third {}

    interface Place {
        /** Enters the monitor and leaves it; the answer is the time when it was entered. */
        long enter();
    }

    static final First FIRST = new First();
    static final Second SECOND = new Second();
    static final Third THIRD = new Third();

    public static void main(String[] args) throws InterruptedException {
        round(8, 40);
        Say.ready();
        round(4, 30);
        Say.ready();
    }

    private static void round(int times, long holdMillis) throws InterruptedException {
        contend(FIRST, Contending::first, times, holdMillis * 2);
        contend(SECOND, Contending::second, times, holdMillis);
        contend(THIRD, Contending::third, times * 2, holdMillis / 4);
    }

    private static long first() {
        synchronized (FIRST) {
            return System.nanoTime();
        }
    }

    private static long second() {
        synchronized (SECOND) {
            return System.nanoTime();
        }
    }

    private static long third() {
        synchronized (THIRD) {
            return System.nanoTime();
        }
    }

    private static void contend(Object lock, Place place, int times, long holdMillis) throws InterruptedException {
        long[] nanos = {0};
        for (int i = 0; i < times; i++) {
            CountDownLatch going = new CountDownLatch(1);
            Thread contender = new Thread(() -> {
                going.countDown();
                long since = System.nanoTime();
                nanos[0] += place.enter() - since;
            });
            synchronized (lock) {
                contender.start();
                going.await();
                while (contender.getState() != Thread.State.BLOCKED) {
                    Thread.yield();
                }
                for (long until = System.nanoTime() + holdMillis * 1_000_000; System.nanoTime() < until; ) {
                    Thread.yield();
                }
            }
            contender.join();
        }
        Say.line("WAITED", lock.getClass().getName(), times, nanos[0]);
    }
}
