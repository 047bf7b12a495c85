package same;

import subject.Say;

/** Writes a growing number to one place after the other: at each moment, every place has the last number that belongs there. */
public class Counting {
    private static final int PLACES = 4_000_000;
    /** Written between two sleeps: more is not copied beside it. */
    private static final int AT_A_TIME = 50_000;

    static final Counter COUNTER = new Counter();

    /** The places, and how many numbers were written. */
    static final class Counter {
        final long[] places = new long[PLACES];
        volatile long count;
    }

    public static void main(String[] args) {
        write(PLACES);
        Thread writing = new Thread(Counting::writeForEver);
        writing.setDaemon(true);
        writing.start();
        Say.ready();
    }

    private static void writeForEver() {
        try {
            while (true) {
                write(AT_A_TIME);
                Thread.sleep(1);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void write(int numbers) {
        long end = COUNTER.count + numbers;
        for (long number = COUNTER.count + 1; number <= end; number++) {
            COUNTER.places[(int) (number % PLACES)] = number;
            COUNTER.count = number;
        }
    }
}
