package monitors;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import subject.Say;

/** Virtual threads that wait for a monitor of a platform thread's, all at once, and one that waits to be notified. */
public class VirtualContending {
    static final int THREADS = 8;
    static final long HOLD_MILLIS = 100;

    static class Lock {}

    static class Bell {}

    static final Lock LOCK = new Lock();
    static final Bell BELL = new Bell();

    public static void main(String[] args) throws InterruptedException {
        AtomicLong nanos = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        synchronized (LOCK) {
            for (int i = 0; i < THREADS; i++) {
                threads.add(Thread.ofVirtual().name("virtual").start(() -> {
                    long since = System.nanoTime();
                    nanos.addAndGet(enter() - since);
                }));
            }
            for (Thread thread : threads) {
                until(thread, Thread.State.BLOCKED);
            }
            Thread waiter = Thread.ofVirtual().name("waiter").start(VirtualContending::await);
            until(waiter, Thread.State.WAITING);
            threads.add(waiter);
            for (long until = System.nanoTime() + HOLD_MILLIS * 1_000_000; System.nanoTime() < until; ) {
                Thread.yield();
            }
            Say.ready();
        }
        synchronized (BELL) {
            BELL.notifyAll();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Say.line("WAITED", Lock.class.getName(), THREADS, nanos.get());
        Say.ready();
    }

    private static long enter() {
        synchronized (LOCK) {
            return System.nanoTime();
        }
    }

    private static void await() {
        synchronized (BELL) {
            try {
                BELL.wait();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static void until(Thread thread, Thread.State state) {
        while (thread.getState() != state) {
            Thread.yield();
        }
    }
}
