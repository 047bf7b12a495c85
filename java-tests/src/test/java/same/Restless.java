package same;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Random;
import java.util.zip.Deflater;
import subject.Say;

/**
 * Writes to its heap in each way there is, often or seldom: its own code, the kernel, native code in critical sections, and the
 * collector, which moves, frees and gives back memory.
 */
public class Restless {
    private static final int ROWS = 40_000;
    private static final int IDLE_THREADS = 100;
    private static final int LARGE_BYTES = 3 << 20;

    private static final long[][] TABLE = new long[ROWS][];
    private static final Object[] LARGE = new Object[4];
    static volatile Object garbage;

    private interface Work {
        void step(Random random) throws Exception;
    }

    public static void main(String[] args) {
        for (int row = 0; row < ROWS; row++) {
            TABLE[row] = new long[1 + row % 100];
        }
        for (int thread = 0; thread < IDLE_THREADS; thread++) {
            start(20 + thread, Restless::update);
        }
        start(0, Restless::replace);
        start(1, Restless::allocate);
        start(2, Restless::read);
        start(3, Restless::deflate);
        start(50, random -> LARGE[random.nextInt(LARGE.length)] = new byte[LARGE_BYTES]);
        start(200, random -> System.gc());
        Say.ready();
    }

    /** Works for ever, with this many milliseconds between two steps. */
    private static void start(int millis, Work work) {
        Thread thread = new Thread(() -> {
            Random random = new Random(millis);
            try {
                while (true) {
                    work.step(random);
                    Thread.sleep(millis);
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private static void update(Random random) {
        long[] row = TABLE[random.nextInt(ROWS)];
        row[random.nextInt(row.length)]++;
    }

    private static void replace(Random random) {
        for (int i = 0; i < 20; i++) {
            TABLE[random.nextInt(ROWS)] = new long[1 + random.nextInt(100)];
        }
    }

    private static void allocate(Random random) {
        garbage = new byte[random.nextInt(100_000)];
    }

    private static void read(Random random) throws IOException {
        Path file = Paths.get("/proc/self/maps");
        byte[] bytes = new byte[1 + random.nextInt(100_000)];
        try (FileInputStream in = new FileInputStream(file.toFile()); FileChannel channel = FileChannel.open(file)) {
            in.read(bytes);
            channel.read(ByteBuffer.wrap(bytes, bytes.length / 2, bytes.length - bytes.length / 2));
        }
        garbage = bytes;
    }

    /** The library writes to the array in a critical section. */
    private static void deflate(Random random) {
        byte[] bytes = new byte[1 + random.nextInt(100_000)];
        random.nextBytes(bytes);
        Deflater deflater = new Deflater();
        deflater.setInput(bytes);
        deflater.finish();
        byte[] small = new byte[2 * bytes.length];
        deflater.deflate(small);
        deflater.end();
        garbage = small;
    }
}
