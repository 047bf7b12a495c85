package threads;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import subject.Say;

/**
 * Threads that call a method that returns what nothing else refers to, again and again: most stop where it returns. Compiled for
 * Java 8.
 */
public class Returned {
    static final class Value {}

    static final class Ended extends RuntimeException {}

    interface Step {
        Step next(int turn);
    }

    static final class Holding implements Step {
        private final Value[] values = new Value[LENGTH];

        Holding() {
            for (int i = 0; i < LENGTH; i++) {
                values[i] = new Value();
            }
        }

        @Override
        public Step next(int turn) {
            if (end) {
                throw new Ended();
            }
            return this;
        }
    }

    static final class Adding implements Step {
        private long sum;

        @Override
        public Step next(int turn) {
            sum += turn;
            return this;
        }
    }

    static final class Mixing implements Step {
        private long sum;

        @Override
        public Step next(int turn) {
            sum ^= turn;
            return this;
        }
    }

    /** Compiles at once. */
    public static final String[] SWITCHES = {"-Xbatch"};
    private static final int THREADS = 8;
    private static final int LENGTH = 100;
    private static final int WARM = 200;
    private static final int TURNS = 10_000;
    private static final CountDownLatch RUNNING = new CountDownLatch(THREADS);
    private static volatile boolean end;

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < WARM; i++) {
            turn(new Adding(), TURNS);
            turn(new Mixing(), TURNS);
            turn(new Holding(), TURNS);
        }
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(Returned::run);
            threads.add(thread);
            thread.start();
        }
        RUNNING.await();
        Say.expect(THREADS * LENGTH, Value.class);
        Say.ready();
        end = true;
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void run() {
        try {
            while (true) {
                turn(begin(new Holding()), Integer.MAX_VALUE);
            }
        } catch (Ended e) {
            // As the program wants.
        }
    }

    private static Step begin(Step step) {
        RUNNING.countDown();
        return step;
    }

    /** The loop has few polls of its own. */
    private static Step turn(Step step, int turns) {
        for (int i = 0; i < turns; i++) {
            step = step.next(i);
        }
        return step;
    }
}
