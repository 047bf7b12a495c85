import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The program that tools/bench.sh measures. Compiles for Java 8; virtual threads are used where there are any.
 *
 * <pre>
 * Subject dump MB OBJECTS MAPS STRINGS ARRAYS ORDER     fills a heap of about MB megabytes, then measures its own stalls;
 *                                                       the next four are the shares in it, in percent; ORDER is
 *                                                       "sequential", "shuffled" (the references lead all over the
 *                                                       memory), or "random" (so does the second one of each node,
 *                                                       and each node is reached from several)
 * Subject run MB THREADS VIRTUAL                        does the work of a program that nobody dumps, and times it
 * </pre>
 */
public final class Subject {
    private static final int MEGABYTE = 1 << 20;
    private static final int CHAIN = 1000;
    private static final List<Object> HEAP = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        long bytes = Long.parseLong(args[1]) * MEGABYTE;
        if (args[0].equals("dump")) {
            int[] shares = new int[4];
            for (int i = 0; i < shares.length; i++) {
                shares[i] = Integer.parseInt(args[2 + i]);
            }
            String order = args[6];
            if (!Arrays.asList("sequential", "shuffled", "random").contains(order)) {
                throw new IllegalArgumentException("an order is sequential, shuffled or random, not " + order);
            }
            fill(bytes, shares, order);
            serve();
        } else {
            int threads = Integer.parseInt(args[2]);
            int virtual = Integer.parseInt(args[3]);
            time("virtual", () -> virtualThreads(virtual));
            time("threads", () -> platformThreads(threads));
            time("fill", () -> fill(bytes, new int[] {20, 15, 25, 40}, "sequential"));
        }
    }

    // ---- the heap

    /** Small: 32 bytes with compressed references. */
    private static final class Node {
        Node next;
        Object about;
        int number;
        long sum;
    }

    private static void fill(long bytes, int[] shares, String order) {
        objects(bytes / 100 * shares[0]);
        maps(bytes / 100 * shares[1]);
        strings(bytes / 100 * shares[2]);
        arrays(bytes / 100 * shares[3]);
        if (!order.equals("sequential")) {
            shuffle(order.equals("random"));
        }
    }

    /**
     * Links the nodes anew and gives each list another order. Done at the end, when most of the objects lie where they
     * stay: a collection that copies objects would bring those together that refer to each other.
     */
    @SuppressWarnings("unchecked")
    private static void shuffle(boolean bothReferences) {
        Random random = new Random(1);
        relink((List<Node>) HEAP.get(0), bothReferences, random);
        for (Object list : HEAP.subList(1, HEAP.size())) {
            Collections.shuffle((List<Object>) list, random);
        }
    }

    /** Makes other chains of the same nodes, as long as before; with both references each node also leads to any other one. */
    private static void relink(List<Node> heads, boolean bothReferences, Random random) {
        List<Node> nodes = new ArrayList<>();
        for (Node head : heads) {
            for (Node node = head; node != null; node = node.next) {
                nodes.add(node);
            }
        }
        Collections.shuffle(nodes, random);
        for (int i = 0; i < nodes.size(); i++) {
            Node node = nodes.get(i);
            boolean isFirst = i % CHAIN == 0;
            node.next = isFirst ? null : nodes.get(i - 1);
            if (bothReferences) {
                node.about = nodes.get(random.nextInt(nodes.size()));
            }
            if ((i + 1) % CHAIN == 0) {
                heads.set(i / CHAIN, node);
            }
        }
    }

    /** Chains of a thousand nodes. */
    private static void objects(long bytes) {
        long chains = bytes / 32 / CHAIN;
        List<Node> heads = new ArrayList<>();
        for (long chain = 0; chain < chains; chain++) {
            Node head = null;
            for (int i = 0; i < CHAIN; i++) {
                Node node = new Node();
                node.next = head;
                node.number = i;
                node.sum = chain + i;
                node.about = heads;
                head = node;
            }
            heads.add(head);
        }
        HEAP.add(heads);
    }

    /** Maps of twenty entries: with table, nodes, keys and values about 1,700 bytes each. */
    private static void maps(long bytes) {
        List<Map<Integer, Long>> maps = new ArrayList<>();
        for (long i = 0; i < bytes / 1700; i++) {
            Map<Integer, Long> map = new HashMap<>();
            for (int key = 1000; key < 1020; key++) {
                map.put(key, i * 1000 + key);
            }
            maps.add(map);
        }
        HEAP.add(maps);
    }

    /** Strings of about 20 characters: 64 bytes each with their arrays. */
    private static void strings(long bytes) {
        List<String> strings = new ArrayList<>();
        for (long i = 0; i < bytes / 64; i++) {
            strings.add("customer " + (1_000_000_000L + i));
        }
        HEAP.add(strings);
    }

    /**
     * Arrays of a megabyte: bytes, longs, references. Exactly that with their headers: G1 gives an array of this size whole
     * regions, and one byte more would be one region more.
     */
    private static void arrays(long bytes) {
        int size = MEGABYTE - 16;
        List<Object> arrays = new ArrayList<>();
        for (long i = 0; i < bytes / MEGABYTE; i++) {
            switch ((int) (i % 3)) {
                case 0:
                    arrays.add(new byte[size]);
                    break;
                case 1:
                    arrays.add(new long[size / 8]);
                    break;
                default:
                    Object[] references = new Object[size / 4];
                    Arrays.fill(references, arrays);
                    arrays.add(references);
            }
        }
        HEAP.add(arrays);
    }

    // ---- stalls

    /** Looks at the clock ten thousand times a second; what lies between two looks is a stall. */
    private static final class Watch extends Thread {
        final AtomicLong longestNanos = new AtomicLong();
        private final AtomicLong looks = new AtomicLong();

        /** Returns when the watch has noted what was before. */
        void catchUp() throws InterruptedException {
            // The look under way may have begun before.
            long next = looks.get() + 2;
            while (looks.get() < next) {
                Thread.sleep(1);
            }
        }

        @Override
        public void run() {
            long last = System.nanoTime();
            while (true) {
                LockSupport.parkNanos(100_000);
                long now = System.nanoTime();
                longestNanos.accumulateAndGet(now - last, Math::max);
                last = now;
                looks.incrementAndGet();
            }
        }
    }

    /**
     * Answers "begin" with "begun", "end" with the longest stall since, in microseconds, and "gc" with the bytes that are
     * in use after a full collection; ends with its input.
     */
    private static void serve() throws Exception {
        Watch watch = new Watch();
        watch.setDaemon(true);
        watch.start();
        System.gc();
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("begin")) {
                watch.catchUp();
                watch.longestNanos.set(0);
                System.out.println("begun");
            } else if (line.equals("gc")) {
                System.gc();
                Runtime runtime = Runtime.getRuntime();
                System.out.println(runtime.totalMemory() - runtime.freeMemory());
            } else {
                watch.catchUp();
                System.out.println(TimeUnit.NANOSECONDS.toMicros(watch.longestNanos.get()));
            }
        }
    }

    // ---- the work of a program that nobody dumps

    interface Work {
        void run() throws Exception;
    }

    /**
     * Prints the name, the time that the work took and the processor time of the whole JVM meanwhile, both in
     * milliseconds; nothing if this Java cannot do it.
     */
    static void time(String name, Work work) throws Exception {
        long start = System.nanoTime();
        long cpuStart = cpuMillis();
        try {
            work.run();
        } catch (NoSuchMethodException thisJavaHasNone) {
            return;
        }
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        System.out.println(name + " " + millis + " " + (cpuMillis() - cpuStart));
    }

    /** User and system time of all threads; Linux counts it in hundredths of a second. */
    private static long cpuMillis() throws Exception {
        String stat = new String(Files.readAllBytes(Paths.get("/proc/self/stat")), StandardCharsets.US_ASCII);
        // The second field, the name, may hold anything, so count behind it.
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return 10 * (Long.parseLong(fields[11]) + Long.parseLong(fields[12]));
    }

    private interface Starter {
        void start(Runnable body) throws Exception;
    }

    /** Platform threads that end at once, at most a hundred at a time. */
    private static void platformThreads(int count) throws Exception {
        startAndWait(count, 100, body -> new Thread(body).start(), () -> { });
    }

    /** Virtual threads that yield three times and park once, at most a thousand at a time. */
    private static void virtualThreads(int count) throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        startAndWait(count, 1000, body -> start.invoke(null, body), () -> {
            Thread.yield();
            Thread.yield();
            LockSupport.parkNanos(1);
            Thread.yield();
        });
    }

    private static void startAndWait(int count, int atATime, Starter starter, Runnable work) throws Exception {
        for (int left = count; left > 0; left -= atATime) {
            int threads = Math.min(left, atATime);
            CountDownLatch running = new CountDownLatch(threads);
            Runnable body = () -> {
                work.run();
                running.countDown();
            };
            for (int i = 0; i < threads; i++) {
                starter.start(body);
            }
            running.await();
        }
    }
}
