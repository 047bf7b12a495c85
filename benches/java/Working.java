import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An application that works while tools/bench.sh has it dumped, and that notices it. Compiles for Java 8.
 *
 * <pre>
 * Working MODE THREADS ENTRIES     fills a map of so many entries (4.5 objects each), then works on it for ever:
 *                                  replace   updates one entry and replaces the value of another, at random
 *                                  update    updates old objects at random, and allocates nothing
 *                                  hot       updates the same few old objects
 *                                  young     allocates objects that die young
 * </pre>
 *
 * Each thread looks at the clock after a batch of work, about every ten microseconds, and notes the time in a ring that is
 * allocated before. What lies between two looks is a gap.
 */
public final class Working {
    /** Times that a thread keeps: more than a minute. */
    private static final int TIMES = 1 << 22;
    /** How long the rate without a dump is measured, and how long a dump's effect is watched after its end. */
    private static final long BEFORE_MILLIS = 3000;
    private static final long AFTER_MILLIS = 1000;
    /** Objects of the small set, and young objects that live at a time. */
    private static final int FEW = 1 << 12;

    private static final class Value {
        long sum;
        String label;

        Value(int number) {
            sum = number;
            label = number % 4 == 0 ? null : "customer " + number;
        }
    }

    private static final Map<Integer, Value> MAP = new HashMap<>();
    private static int entries;
    /** The values that the map has at the beginning; only where they stay in it, as the array keeps them alive. */
    private static Value[] values;

    public static void main(String[] args) throws Exception {
        entries = Integer.parseInt(args[2]);
        values = args[0].equals("replace") ? null : new Value[entries];
        for (int i = 0; i < entries; i++) {
            Value value = new Value(i);
            MAP.put(i, value);
            if (values != null) {
                values[i] = value;
            }
        }
        Worker[] workers = new Worker[Integer.parseInt(args[1])];
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Worker(args[0], i, workers.length);
        }
        long[] gaps = new long[TIMES];
        System.gc();
        for (Worker worker : workers) {
            worker.setDaemon(true);
            worker.start();
        }
        Thread.sleep(BEFORE_MILLIS); // The compiler is done after that.
        System.out.println("ready");
        serve(workers, gaps);
    }

    /**
     * Answers "begin", when the rate is known, with "begun"; and "end", one second later, with the microseconds of work lost
     * since then by the rate before, and the median, the 99th percentile and the longest of all gaps, in nanoseconds.
     * Ends with its input.
     */
    private static void serve(Worker[] workers, long[] gaps) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        double rate = 0;
        long start = 0;
        long[] first = new long[workers.length];
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("begin")) {
                long before = batches(workers);
                start = System.nanoTime();
                Thread.sleep(BEFORE_MILLIS);
                for (int i = 0; i < first.length; i++) {
                    first[i] = workers[i].batches.get();
                }
                long now = System.nanoTime();
                rate = (double) (Arrays.stream(first).sum() - before) / (now - start);
                start = now;
                System.out.println("begun");
            } else {
                Thread.sleep(AFTER_MILLIS);
                long[] last = new long[workers.length];
                for (int i = 0; i < last.length; i++) {
                    last[i] = workers[i].batches.get();
                }
                long end = System.nanoTime();
                double lost = end - start - (Arrays.stream(last).sum() - Arrays.stream(first).sum()) / rate;
                int count = 0;
                for (int i = 0; i < workers.length; i++) {
                    count = workers[i].gaps(first[i], last[i], end, gaps, count);
                }
                Arrays.sort(gaps, 0, count);
                System.out.println((long) (lost / 1000) + " " + gaps[count / 2] + " " + gaps[(int) (count * 0.99)] + " "
                    + gaps[count - 1]);
            }
        }
    }

    private static long batches(Worker[] workers) {
        return Arrays.stream(workers).mapToLong(worker -> worker.batches.get()).sum();
    }

    /** Works on the entries whose number divided by the number of threads leaves this thread's number. */
    private static final class Worker extends Thread {
        final AtomicLong batches = new AtomicLong();
        private final long[] times = new long[TIMES];
        private final Value[] young = new Value[FEW];
        private final String mode;
        private final int number;
        private final int threads;
        private long random;

        Worker(String mode, int number, int threads) {
            this.mode = mode;
            this.number = number;
            this.threads = threads;
            this.random = number + 1;
            Arrays.fill(times, 1); // The memory is there from the beginning.
        }

        @Override
        public void run() {
            for (long batch = 0;; batch++) {
                work();
                times[(int) (batch % TIMES)] = System.nanoTime();
                batches.lazySet(batch + 1);
            }
        }

        private void work() {
            switch (mode) {
                case "replace":
                    for (int i = 0; i < 16; i++) {
                        MAP.get(any()).sum++;
                        int key = any();
                        MAP.put(key, new Value(key));
                    }
                    break;
                case "update":
                    for (int i = 0; i < 64; i++) {
                        values[any()].sum++;
                    }
                    break;
                case "hot":
                    for (int i = 0; i < 1024; i++) {
                        values[any() % FEW].sum++;
                    }
                    break;
                case "young":
                    for (int i = 0; i < 64; i++) {
                        int key = any();
                        young[key % FEW] = new Value(key);
                    }
                    break;
                default:
                    throw new IllegalArgumentException("no mode " + mode);
            }
        }

        /** The number of any entry of this thread's. */
        private int any() {
            random ^= random << 13;
            random ^= random >>> 7;
            random ^= random << 17;
            int turns = entries / threads;
            return (int) ((random >>> 1) % turns) * threads + number;
        }

        /** Adds the gaps between the batches from `first` to `last`, and the one that lasts, to the first `count` of `gaps`. */
        int gaps(long first, long last, long end, long[] gaps, int count) {
            if (last - first > TIMES / threads || first == 0) {
                throw new IllegalStateException("more batches than are kept: " + (last - first));
            }
            int filled = count;
            for (long batch = first; batch < last; batch++) {
                gaps[filled++] = time(batch) - time(batch - 1);
            }
            gaps[filled++] = end - time(last - 1);
            return filled;
        }

        private long time(long batch) {
            return times[(int) (batch % TIMES)];
        }
    }
}
