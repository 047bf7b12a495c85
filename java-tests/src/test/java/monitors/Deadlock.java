package monitors;

import java.util.concurrent.CyclicBarrier;
import subject.Say;

/** Two threads that wait for each other for ever, one more that wants the monitor of one of them, and one that waits. */
public class Deadlock {
    static class Left {}

    static class Right {}

    static class Bell {}

    static final Left LEFT = new Left();
    static final Right RIGHT = new Right();
    static final Bell BELL = new Bell();
    static final CyclicBarrier BOTH = new CyclicBarrier(2);

    public static void main(String[] args) throws Exception {
        Thread one = start("one", () -> {
            synchronized (LEFT) {
                synchronized (LEFT) {
                    BOTH.await();
                    enter(RIGHT);
                }
            }
        });
        Thread two = start("two", () -> {
            synchronized (RIGHT) {
                BOTH.await();
                enter(LEFT);
            }
        });
        until(one, Thread.State.BLOCKED);
        until(two, Thread.State.BLOCKED);
        until(start("three", () -> enter(LEFT)), Thread.State.BLOCKED);
        until(start("waiter", () -> {
            synchronized (BELL) {
                BELL.wait();
            }
        }), Thread.State.WAITING);
        Say.ready();
    }

    interface Body {
        void run() throws Exception;
    }

    static void enter(Object lock) {
        synchronized (lock) {
            throw new IllegalStateException("nobody gets here");
        }
    }

    private static Thread start(String name, Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void until(Thread thread, Thread.State state) {
        while (thread.getState() != state) {
            Thread.yield();
        }
    }
}
