package harm;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import subject.Say;

/**
 * Runs out of what is not the Java heap, and throws errors of its own, while one frame holds a leak. Arguments: what happens, one after the
 * other.
 */
public class JavaErrors {
    private static final int LEAKS = 100_000;
    private static final long GIGABYTE = 1L << 30;
    private static final int MEGABYTE = 1 << 20;

    /** An error of an application. */
    static class OutOfSpace extends OutOfMemoryError {
        OutOfSpace(String message) {
            super(message);
        }
    }

    /** Errors that a class makes for later, as H2's does. */
    static class Kept {
        static final OutOfMemoryError[] ERRORS = {new OutOfMemoryError(), new OutOfSpace("kept")};
    }

    public static void main(String[] args) throws IOException {
        for (String what : args) {
            OutOfMemory.Leak last = null;
            for (int count = 0; count < LEAKS; count++) {
                last = new OutOfMemory.Leak(last);
            }
            try {
                exhaust(what);
                Say.line("NO ERROR", what);
            } catch (OutOfMemoryError error) {
                Say.line(what, error.getClass().getName());
            } catch (IOException error) {
                Say.line(what, error.getCause().getClass().getName());
            }
            Say.line("HELD", last.a);
        }
    }

    private static void exhaust(String what) throws IOException {
        switch (what) {
            case "direct":
                direct();
                return;
            case "netty":
                netty();
                return;
            case "map":
                map(1 << 20, GIGABYTE);
                return;
            case "maps":
                loadWhatMappingTakes();
                map(1 << 24, 1 << 12);
                return;
            case "mapOnce":
                mapOnce();
                return;
            case "threads":
                threads();
                return;
            case "heap":
                heap();
                return;
            case "own":
                throw new OutOfSpace("no\nspace");
            case "none":
                throw new OutOfMemoryError();
            case "kept":
                Say.line("MADE", Kept.ERRORS.length);
                return;
            default:
                throw new IllegalArgumentException(what);
        }
    }

    private static void direct() {
        List<ByteBuffer> buffers = new ArrayList<>();
        while (true) {
            buffers.add(ByteBuffer.allocateDirect(MEGABYTE));
        }
    }

    private static void netty() {
        List<ByteBuf> buffers = new ArrayList<>();
        while (true) {
            buffers.add(PooledByteBufAllocator.DEFAULT.directBuffer(MEGABYTE));
        }
    }

    /** The address space is bounded from outside, and the number of mappings by the system. */
    private static Deque<Object> map(int most, long bytes) throws IOException {
        Deque<Object> maps = new ArrayDeque<>();
        File file = new File("mapped");
        try (RandomAccessFile opened = new RandomAccessFile(file, "rw")) {
            opened.setLength(bytes);
            while (maps.size() < most) {
                maps.add(opened.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, bytes));
            }
            return maps;
        } finally {
            file.delete();
        }
    }

    /** A JVM that loads a class without a mapping left ends: between two attempts the JDK collects garbage and sleeps. */
    private static void loadWhatMappingTakes() throws IOException {
        map(1, 1 << 12);
        System.gc();
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** More than there is room for, once: the collection after the first failure frees what the second attempt needs. */
    private static void mapOnce() throws IOException {
        for (int round = 0; round < 14; round++) {
            map(1, GIGABYTE);
        }
    }

    /** The stacks of the threads take the address space. */
    private static void threads() {
        CountDownLatch never = new CountDownLatch(1);
        while (true) {
            Thread thread = new Thread(null, () -> {
                try {
                    never.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }, "waiting", GIGABYTE);
            thread.setDaemon(true);
            thread.start();
        }
    }

    private static void heap() {
        List<byte[]> all = new ArrayList<>();
        while (true) {
            all.add(new byte[MEGABYTE]);
        }
    }
}
