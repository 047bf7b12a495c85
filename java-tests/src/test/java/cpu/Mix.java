package cpu;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.ServerSocket;
import java.util.Random;
import subject.Say;

/** Three methods that share the processor as 60, 30 and 10 do, and print what they took; and a thread in a native method that waits. */
public class Mix {
    private static final ThreadMXBean TIMES = ManagementFactory.getThreadMXBean();
    /** What the largest method takes at a time: many times the distance of samples. */
    private static final long LARGE_NS = 60_000_000;
    private static final long ROUND_NS = 100_000_000;
    static volatile long sink;

    public static void main(String[] args) throws IOException {
        ServerSocket socket = new ServerSocket(0);
        Thread idle = new Thread(() -> waitInNative(socket), "idle");
        idle.setDaemon(true);
        idle.start();
        work(Integer.parseInt(args[0]));
        Say.ready();
    }

    static void waitInNative(ServerSocket socket) {
        try {
            socket.accept();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * So many times about a tenth of a second, and as long in all. Were all of them equally long, samples, which come in time with
     * the system's clock, could fall on the same places again and again.
     */
    static void work(int times) {
        long mean = calibrate();
        Random random = new Random(1);
        long[] tookNs = new long[3];
        // If the compiler was late, the code is faster than it was when its speed was measured.
        for (int i = 0; i < times || tookNs[0] + tookNs[1] + tookNs[2] < times * ROUND_NS; i++) {
            long unit = (long) (mean * (0.5 + random.nextDouble()));
            long start = TIMES.getCurrentThreadCpuTime();
            sink += large(sink, 6 * unit);
            long second = TIMES.getCurrentThreadCpuTime();
            sink += medium(sink, 3 * unit);
            long third = TIMES.getCurrentThreadCpuTime();
            sink += small(sink, unit);
            tookNs[0] += second - start;
            tookNs[1] += third - second;
            tookNs[2] += TIMES.getCurrentThreadCpuTime() - third;
        }
        Say.line("TOOK", "cpu.Mix.large", tookNs[0]);
        Say.line("TOOK", "cpu.Mix.medium", tookNs[1]);
        Say.line("TOOK", "cpu.Mix.small", tookNs[2]);
    }

    private static long calibrate() {
        long steps = 100_000;
        while (true) {
            long start = TIMES.getCurrentThreadCpuTime();
            sink += spin(sink, steps);
            long tookNs = TIMES.getCurrentThreadCpuTime() - start;
            if (tookNs > LARGE_NS) {
                return (long) (steps * (LARGE_NS / 6.0 / tookNs));
            }
            steps *= 2;
        }
    }

    static long spin(long x, long steps) {
        for (long i = 0; i < steps; i++) {
            x = step(x);
        }
        return x;
    }

    static long large(long x, long steps) {
        for (long i = 0; i < steps; i++) {
            x = step(x);
        }
        return x;
    }

    static long medium(long x, long steps) {
        for (long i = 0; i < steps; i++) {
            x = step(x);
        }
        return x;
    }

    static long small(long x, long steps) {
        for (long i = 0; i < steps; i++) {
            x = step(x);
        }
        return x;
    }

    /** Inlined, but for the interpreter. */
    static long step(long x) {
        return (x * 31 + 7) ^ (x >>> 3);
    }
}
