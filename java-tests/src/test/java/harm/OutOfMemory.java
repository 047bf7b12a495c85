package harm;

import java.io.FileInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import subject.Definer;
import subject.Say;

/**
 * Runs out of memory. Arguments: of what ({@code none}, {@code heap}, {@code full}, {@code array}, {@code descriptors}, {@code size}, {@code metaspace}), in which thread ({@code main},
 * {@code other}), and what becomes of the error ({@code caught}, {@code uncaught}; {@code forever}: the program waits for its end).
 */
public class OutOfMemory {
    private static final List<Object> OPEN = new ArrayList<>();
    private static final int LARGE = 1 << 18;

    /** More bytes of the heap than those of any other class. */
    static class Leak {
        final Leak next;
        final long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;

        Leak(Leak next) {
            this.next = next;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        boolean isForever = args[2].equals("forever");
        boolean isCaught = isForever || args[2].equals("caught");
        Say.line("BEGIN");
        if (args[1].equals("main")) {
            exhaust(args[0], isCaught);
        } else {
            Thread thread = new Thread(() -> exhaust(args[0], isCaught), "leaking");
            thread.start();
            thread.join();
        }
        Say.line("END");
        if (isForever) {
            new CountDownLatch(1).await();
        }
    }

    private static void exhaust(String what, boolean isCaught) {
        try {
            switch (what) {
                case "none":
                    return;
                case "heap":
                    leak();
                    return;
                case "full":
                    fill();
                    return;
                case "array":
                    arrays();
                    return;
                case "descriptors":
                    descriptors();
                    leak();
                    return;
                case "size":
                    Say.line(new long[Integer.MAX_VALUE].length);
                    return;
                case "metaspace":
                    define();
                    return;
                default:
                    throw new IllegalArgumentException(what);
            }
        } catch (OutOfMemoryError error) {
            if (!isCaught) {
                throw error;
            }
        }
    }

    /** This frame alone holds the leak. */
    private static void leak() {
        Leak last = null;
        while (true) {
            last = new Leak(last);
        }
    }

    /** Leaves the process no descriptor. */
    private static void descriptors() {
        Leak last = new Leak(null);
        try {
            while (last.next == null) {
                OPEN.add(new FileInputStream("/dev/null"));
            }
        } catch (IOException none) {
            Say.line("NONE");
        }
    }

    /** As above. The heap has room for smaller objects, but not in G1's regions. */
    private static void arrays() {
        List<byte[]> arrays = new ArrayList<>();
        while (true) {
            arrays.add(new byte[100_000]);
        }
    }

    /** Leaves no room for an object of any size. */
    private static void fill() {
        Object[] last = null;
        for (int size = LARGE; ; size /= 2) {
            try {
                while (true) {
                    Object[] next = new Object[Math.max(size, 1)];
                    next[0] = last;
                    last = next;
                }
            } catch (OutOfMemoryError error) {
                if (size <= 1) {
                    throw error;
                }
            }
        }
    }

    private static void define() {
        List<Object> objects = new ArrayList<>();
        while (true) {
            objects.add(new Definer().instance("made/OutOfMemory" + objects.size()));
        }
    }
}
