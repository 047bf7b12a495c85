package same;

import java.util.Random;
import subject.Say;

/**
 * Two threads replace pairs of objects all the time, so that the collector moves others. Whoever looks finds every cell of the array
 * with its number, its twin, whose twin it is, and its own load. With an argument they never rest, and nor does the collector.
 */
public class Twins {
    static final int CELLS = 60_000;
    private static final int THREADS = 2;
    /** Allocated between two sleeps: a collector on a busy machine must keep up. */
    private static final int PAIRS = 200;

    static final Cell[] ALL = new Cell[CELLS];
    static volatile Object garbage;

    /** A cell. */
    static final class Cell {
        final int number;
        Cell twin;
        final Object[] self;
        final byte[] load;

        Cell(int number) {
            this.number = number;
            load = new byte[] {(byte) number, (byte) (number >> 8)};
            self = new Object[] {this, load};
        }
    }

    public static void main(String[] args) {
        for (int pair = 0; pair < CELLS / 2; pair++) {
            replace(pair);
        }
        for (int thread = 0; thread < THREADS; thread++) {
            int first = thread;
            Thread replacing = new Thread(() -> replaceForEver(first, args.length > 0));
            replacing.setDaemon(true);
            replacing.start();
        }
        Say.ready();
    }

    private static void replaceForEver(int first, boolean isBusy) {
        Random random = new Random(first);
        try {
            while (true) {
                for (int i = 0; i < PAIRS; i++) {
                    replace(random.nextInt(CELLS / 2 / THREADS) * THREADS + first);
                    garbage = new byte[random.nextInt(2000)];
                }
                if (!isBusy) {
                    Thread.sleep(1);
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void replace(int pair) {
        Cell one = new Cell(2 * pair);
        Cell other = new Cell(2 * pair + 1);
        one.twin = other;
        other.twin = one;
        ALL[2 * pair] = one;
        ALL[2 * pair + 1] = other;
    }
}
