package monitors;

import subject.Say;

/** A thread that waits: until it is notified by one who keeps the monitor for a while, then until its time is up. */
public class Waiting {
    static class Bell {}

    static final Bell BELL = new Bell();
    static final long KEPT_MILLIS = 60;

    public static void main(String[] args) throws InterruptedException {
        Thread waiter = new Thread(() -> {
            try {
                synchronized (BELL) {
                    say(60_000);
                    say(30);
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, "waiter");
        waiter.start();
        while (waiter.getState() != Thread.State.TIMED_WAITING) {
            Thread.yield();
        }
        synchronized (BELL) {
            keep();
            BELL.notifyAll();
            keep();
        }
        waiter.join();
        Say.ready();
    }

    private static void say(long timeoutMillis) throws InterruptedException {
        long since = System.nanoTime();
        BELL.wait(timeoutMillis);
        Say.line("WAITED", timeoutMillis, System.nanoTime() - since);
    }

    private static void keep() {
        for (long until = System.nanoTime() + KEPT_MILLIS * 1_000_000; System.nanoTime() < until; ) {
            Thread.yield();
        }
    }
}
