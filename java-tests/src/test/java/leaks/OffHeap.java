package leaks;

import java.io.File;
import java.io.RandomAccessFile;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.zip.Deflater;
import subject.Say;

/** Holds memory outside of the heap: buffers, mapped files, zip streams, threads, malloc. */
public class OffHeap {
    static final int BUFFERS = 200;
    static final int BUFFER_BYTES = 1 << 20;
    static final int FILES = 3;
    static final int FILE_BYTES = 8 << 20;
    static final int DEFLATERS = 200;
    static final int THREADS = 300;
    /** Malloc maps blocks of this size one by one. */
    static final int BLOCK_BYTES = 1 << 20;
    static final int BLOCKS = 60;
    private static final int PAGE_BYTES = 4096;

    static final List<ByteBuffer> POOL = new ArrayList<>();
    static final Map<String, MappedByteBuffer> INDEX = new HashMap<>();
    static final Deflater[] OPEN = new Deflater[DEFLATERS];
    private static final CountDownLatch END = new CountDownLatch(1);

    public static void main(String[] args) throws Exception {
        allocateBlocks();
        for (int i = 0; i < BUFFERS; i++) {
            POOL.add(touched(ByteBuffer.allocateDirect(BUFFER_BYTES)));
        }
        ByteBuffer view = POOL.get(0).duplicate();
        for (int i = 0; i < FILES; i++) {
            File file = new File(args[0], "index." + i);
            try (RandomAccessFile open = new RandomAccessFile(file, "rw")) {
                MappedByteBuffer mapped = open.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, FILE_BYTES);
                touched(mapped);
                INDEX.put(file.getName(), mapped);
            }
        }
        for (int i = 0; i < DEFLATERS; i++) {
            OPEN[i] = new Deflater();
            OPEN[i].setInput(new byte[100_000]);
            OPEN[i].finish();
            OPEN[i].deflate(new byte[1000]);
        }
        new Deflater().end();
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(OffHeap::waitForTheEnd, "waiter-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        Say.ready();
        Say.line("VIEW", view.capacity());
        END.countDown();
    }

    private static void allocateBlocks() throws ReflectiveOperationException {
        Class<?> type = Class.forName("sun.misc.Unsafe");
        Field field = type.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Object unsafe = field.get(null);
        Method allocate = type.getMethod("allocateMemory", long.class);
        Method fill = type.getMethod("setMemory", long.class, long.class, byte.class);
        for (int i = 0; i < BLOCKS; i++) {
            fill.invoke(unsafe, allocate.invoke(unsafe, (long) BLOCK_BYTES), (long) BLOCK_BYTES, (byte) 1);
        }
    }

    private static ByteBuffer touched(ByteBuffer buffer) {
        for (int at = 0; at < buffer.capacity(); at += PAGE_BYTES) {
            buffer.put(at, (byte) 1);
        }
        return buffer;
    }

    private static void waitForTheEnd() {
        try {
            END.await();
        } catch (InterruptedException end) {
            throw new IllegalStateException(end);
        }
    }
}
