package harm;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.Random;

/**
 * Fills the heap, and then waits without making an object: {@code full} until there is an OutOfMemoryError, {@code nearly} until the
 * next object of any size would be one, which takes a collector that never moves or frees anything, and no buffers for threads;
 * {@code moments} lets threads replace objects for ever, faster than ZGC frees them.
 */
public class FullHeap {
    /** What is left for the JVM's own small needs during the test; the agent's objects are many times larger. */
    private static final int LEFT_BYTES = 4096;
    private static final int LARGE = 1 << 20;
    private static final Runtime RUNTIME = Runtime.getRuntime();
    private static final byte[] WARM = "WARM\n".getBytes();
    private static final byte[] READY = "READY\n".getBytes();
    private static final byte[] ALIVE = "ALIVE\n".getBytes();

    private static final int REPLACING_THREADS = 3;
    private static final int REPLACED = 2000;
    private static final int REPLACED_BYTES_MAX = 100_000;

    static Node all;

    static class Node {
        final Node next;
        final byte[] bytes;

        Node(Node next, byte[] bytes) {
            this.next = next;
            this.bytes = bytes;
        }
    }

    public static void main(String[] args) throws IOException {
        FileInputStream in = new FileInputStream(FileDescriptor.in);
        FileOutputStream out = new FileOutputStream(FileDescriptor.out);
        // What reading and writing need for the first time is there afterwards.
        out.write(WARM);
        while (in.read() != '\n') {
            // The word to begin.
        }
        switch (args[0]) {
            case "full":
                fill();
                break;
            case "nearly":
                fillNearly();
                break;
            default:
                replaceForEver();
        }
        out.write(READY);
        while (true) {
            // The program answers that a word is done. The bench ends this program, which could not do so without a new object.
            if (in.read() == '\n' && all != null) {
                out.write(ALIVE);
            }
        }
    }

    private static void fill() {
        for (int size = LARGE; size >= 0; size = size == 0 ? -1 : size / 2) {
            try {
                while (true) {
                    all = new Node(all, new byte[size]);
                }
            } catch (OutOfMemoryError e) {
                // Smaller ones may still fit.
            }
        }
    }

    private static void fillNearly() {
        long left = RUNTIME.maxMemory() - RUNTIME.totalMemory() + RUNTIME.freeMemory();
        while (left > LEFT_BYTES) {
            // A header and a node beside the array.
            int size = (int) Math.min(LARGE, Math.max(0, left - LEFT_BYTES - 64));
            all = new Node(all, new byte[size]);
            left = RUNTIME.maxMemory() - RUNTIME.totalMemory() + RUNTIME.freeMemory();
        }
    }

    private static void replaceForEver() {
        all = new Node(null, null);
        Object[] replaced = new Object[REPLACED];
        for (int number = 0; number < REPLACING_THREADS; number++) {
            Random random = new Random(number);
            Thread thread = new Thread(() -> {
                while (true) {
                    try {
                        replaced[random.nextInt(REPLACED)] = new byte[random.nextInt(REPLACED_BYTES_MAX)];
                    } catch (OutOfMemoryError e) {
                        // The next one may fit.
                    }
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
    }
}
