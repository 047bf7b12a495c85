package modes;

import java.util.ArrayList;
import java.util.List;
import subject.Say;

/** Goes to the end of the stack again and again, or to the end of the heap, and survives it. */
public class Limits {
    private static final int ROUNDS = 60;
    private static final int HEAP_ROUNDS = 2;
    private static final int SOME_BYTES = 100_000;
    private static Object sink;

    public static void main(String[] args) throws InterruptedException {
        boolean isStack = args[0].equals("stack");
        int[] met = new int[1];
        Throwable[] wrong = new Throwable[1];
        Thread thread = new Thread(null, () -> {
            try {
                for (int i = 0; i < (isStack ? ROUNDS : HEAP_ROUNDS); i++) {
                    met[0] += isStack ? stack(i % 4) : heap(i % 2);
                }
            } catch (Throwable e) {
                wrong[0] = e;
            }
        }, "to the end", 512 * 1024);
        thread.start();
        thread.join();
        Say.line("MET", met[0], isStack ? ROUNDS : HEAP_ROUNDS);
        Say.line("WRONG", wrong[0]);
        Say.line("FREE", isFree());
    }

    private static int stack(int kind) {
        try {
            switch (kind) {
                case 0: sink = plain(0); break;
                case 1: allocating(0); break;
                case 2: locking(0); break;
                default: inTry(0); break;
            }
            return 0;
        } catch (StackOverflowError e) {
            return 1;
        }
    }

    private static int plain(int depth) {
        return 1 + plain(depth + 1);
    }

    private static Object allocating(int depth) {
        Object[] more = {new Object(), depth};
        more[0] = allocating(depth + 1);
        return more;
    }

    private static synchronized int locking(int depth) {
        return 1 + locking(depth + 1);
    }

    private static int inTry(int depth) {
        try {
            return 1 + inTry(depth + 1);
        } catch (ArithmeticException never) {
            return 0;
        }
    }

    private static int heap(int kind) {
        List<Object> kept = new ArrayList<>();
        try {
            while (true) {
                kept.add(kind == 0 ? new byte[SOME_BYTES] : new Object[] {new Object(), "" + kept.size()});
            }
        } catch (OutOfMemoryError e) {
            return 1;
        }
    }

    /** Whether another thread than the one that fell can enter. */
    private static boolean isFree() {
        synchronized (Limits.class) {
            return true;
        }
    }
}
