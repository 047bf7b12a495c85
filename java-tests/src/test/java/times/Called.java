package times;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.Callable;
import subject.Say;

/**
 * Calls methods of every kind and prints how often: {@code CALLED class.method times}. Then works for a known share of
 * time in three methods, and prints how much processor time its thread took: {@code CPU nanoseconds}. Runs on Java 8.
 */
public final class Called {
    static volatile int sink;

    interface Shape {
        default int sides() {
            return 4;
        }

        static int known() {
            return 3;
        }
    }

    static class Square implements Shape {
        static int made;

        static {
            made = first();
        }

        Square() {
            made++;
        }

        static int first() {
            return 0;
        }

        synchronized int locked() {
            return made;
        }
    }

    /** Throws out of its constructor, before and after that of the class above has run. */
    static class Refused extends Square {
        Refused(int why) {
            super();
            if (why >= 0) {
                throw new IllegalArgumentException();
            }
        }
    }

    private Called() {}

    public static void main(String[] args) throws Exception {
        ThreadMXBean threadBean = ManagementFactory.getThreadMXBean();
        long start = threadBean.getCurrentThreadCpuTime();
        measured(args);
        Say.line("CPU", threadBean.getCurrentThreadCpuTime() - start);
        Say.ready();
    }

    private static void measured(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        Shape square = new Square();
        int refusals = 0;
        for (int i = 0; i < rounds; i++) {
            sink = outer(i);
            sink = square.sides() + Shape.known() + ((Square) square).locked();
            try {
                sink = new Refused(i).locked();
            } catch (IllegalArgumentException e) {
                refusals++;
            }
        }
        if (refusals != rounds) {
            throw new IllegalStateException("refusals " + refusals);
        }
        depth(400);
        Callable<Integer> lambda = Called::referred;
        for (int i = 0; i < rounds; i++) {
            sink = lambda.call();
        }
        Thread[] threads = new Thread[3];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> inThread(rounds));
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        work();
        Say.line("CALLED", "times.Called.outer", rounds);
        Say.line("CALLED", "times.Called.throwing", rounds);
        Say.line("CALLED", "times.Called.catching", rounds);
        Say.line("CALLED", "times.Called$Shape.sides", rounds);
        Say.line("CALLED", "times.Called$Shape.known", rounds);
        Say.line("CALLED", "times.Called$Square.locked", rounds);
        Say.line("CALLED", "times.Called$Square.first", 1);
        Say.line("CALLED", "times.Called$Square.<clinit>", 1);
        Say.line("CALLED", "times.Called$Square.<init>", rounds + 1);
        Say.line("CALLED", "times.Called$Refused.<init>", rounds);
        Say.line("CALLED", "times.Called.depth", 401);
        Say.line("CALLED", "times.Called.referred", rounds);
        Say.line("CALLED", "times.Called.inThread", threads.length);
        Say.line("CALLED", "times.Called.leaf", threads.length * rounds);
    }

    private static int outer(int i) {
        return catching(i) + 1;
    }

    private static int catching(int i) {
        try {
            return throwing(i);
        } catch (IllegalStateException e) {
            return -1;
        }
    }

    private static int throwing(int i) {
        if (i % 3 == 0) {
            throw new IllegalStateException("on purpose");
        }
        return i;
    }

    private static int depth(int left) {
        return left == 0 ? 0 : 1 + depth(left - 1);
    }

    private static int referred() {
        return 5;
    }

    private static void inThread(int rounds) {
        for (int i = 0; i < rounds; i++) {
            sink = leaf(i);
        }
    }

    private static int leaf(int i) {
        return i + 1;
    }

    /** Six tenths, three tenths and one tenth of the work, a moment each in turn. */
    private static void work() {
        for (int i = 0; i < 40; i++) {
            six(6);
            three(3);
            one(1);
        }
    }

    private static void six(int shares) {
        spin(shares);
    }

    private static void three(int shares) {
        sink = turn(shares);
    }

    private static void one(int shares) {
        sink = turn(shares);
    }

    private static void spin(int shares) {
        sink = turn(shares);
    }

    private static int turn(int shares) {
        int state = shares;
        for (int i = 0; i < shares * 2_000_000; i++) {
            state = state * 31 + i;
        }
        return state;
    }
}
