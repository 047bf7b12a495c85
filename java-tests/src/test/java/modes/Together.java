package modes;

import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongUnaryOperator;
import subject.ClassBytes;
import subject.Say;

/**
 * A hundred threads allocate, throw, want a few monitors, wait and notify, load classes by loaders that they drop, and end,
 * and others begin; virtual ones, too, where there are some. What they compute is checked. So for the seconds given, and until it is asked to end.
 */
public class Together {
    static final int THREADS = 100;
    private static final int TURNS = 25;
    static final long COLLECTING_SECONDS = 80;
    private static final Object[] LOCKS = {new Object(), new Together(), new int[0]};
    private static final long[] COUNTS = new long[LOCKS.length];
    private static final AtomicLong ENTERED = new AtomicLong();
    private static final AtomicLong THREADS_RUN = new AtomicLong();
    private static final AtomicLong VIRTUAL_RUN = new AtomicLong();
    private static final AtomicLong LOADED = new AtomicLong();
    private static final AtomicBoolean GOING = new AtomicBoolean(true);
    private static final AtomicReference<Throwable> WRONG = new AtomicReference<>();
    private static final Queue<WeakReference<ClassLoader>> LOADERS = new ConcurrentLinkedQueue<>();

    /** Defines what is loaded anew. */
    private static final class Definer extends ClassLoader {
        private final byte[] code;

        Definer(byte[] code) {
            super(Together.class.getClassLoader());
            this.code = code;
        }

        Class<?> define() {
            return defineClass(null, code, 0, code.length);
        }
    }

    public static void main(String[] args) throws Exception {
        byte[] work = ClassBytes.of(Work.class);
        byte[] broken = ClassBytes.of(Broken.class);
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000;
        List<Thread> keepers = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Thread keeper = keeper(i, work, broken);
            keepers.add(keeper);
            keeper.start();
        }
        Say.ready();
        while (end - System.nanoTime() > 0 && WRONG.get() == null) {
            Thread.sleep(10);
        }
        GOING.set(false);
        for (Thread keeper : keepers) {
            keeper.join();
        }
        keepers.clear();
        tell();
    }

    private static void tell() throws InterruptedException {
        Say.line("THREADS", THREADS_RUN, VIRTUAL_RUN);
        long counted = 0;
        for (long count : COUNTS) {
            counted += count;
        }
        Say.line("ENTERED", ENTERED, counted);
        Say.line("LOADERS", LOADED, left());
        Throwable wrong = WRONG.get();
        Say.line("WRONG", wrong);
        if (wrong != null) {
            wrong.printStackTrace();
        }
    }

    /** Loaders that are still there after many collections: a compiler at work or a dump under way holds classes, too. */
    private static int left() throws InterruptedException {
        long limit = System.nanoTime() + COLLECTING_SECONDS * 1_000_000_000;
        while (true) {
            System.gc();
            LOADERS.removeIf(loader -> loader.get() == null);
            if (LOADERS.isEmpty() || System.nanoTime() - limit > 0) {
                return LOADERS.size();
            }
            // Not at once again: a dump that holds classes must get on between collections.
            Thread.sleep(100);
        }
    }

    /** Has one thread after the other work in its name, so that about as many begin as end. */
    private static Thread keeper(int number, byte[] work, byte[] broken) {
        return new Thread(() -> {
            for (int life = 0; GOING.get() && WRONG.get() == null; life++) {
                int seed = number + life * THREADS;
                Runnable one = () -> live(seed, work, broken);
                try {
                    boolean isVirtual = number % 4 == 0;
                    Thread thread = isVirtual ? virtual(one) : null;
                    if (thread == null) {
                        thread = new Thread(one, "worker " + seed);
                        thread.start();
                    } else {
                        VIRTUAL_RUN.incrementAndGet();
                    }
                    thread.join();
                    THREADS_RUN.incrementAndGet();
                } catch (ReflectiveOperationException | InterruptedException e) {
                    WRONG.set(e);
                }
            }
        }, "keeper " + number);
    }

    /** A virtual thread, started; null before Java 21. */
    private static Thread virtual(Runnable run) throws ReflectiveOperationException {
        Method start;
        try {
            start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException e) {
            return null;
        }
        try {
            return (Thread) start.invoke(null, run);
        } catch (InvocationTargetException preview) {
            return null;                                 // Java 19 and 20 without their preview
        }
    }

    private static void live(int seed, byte[] work, byte[] broken) {
        try {
            for (int turn = 0; turn < TURNS; turn++) {
                same(squares(turn % 10), allocate(turn % 10), "allocated");
                same(turn, fall(turn), "thrown");
                enter(seed + turn, turn);
            }
            load(seed, work);
            if (seed % 8 == 0) {
                breakDown(broken);
            }
        } catch (Throwable e) {
            WRONG.compareAndSet(null, e);
        }
    }

    private static void same(long expected, long found, String what) {
        if (expected != found) {
            throw new IllegalStateException(found + " " + what + ", not " + expected);
        }
    }

    private static long squares(int turn) {
        long sum = 0;
        for (int i = 0; i <= turn; i++) {
            sum += (long) i * i;
        }
        return sum;
    }

    /** The same sum by way of objects and arrays of many kinds. */
    private static long allocate(int turn) {
        List<long[]> rows = new ArrayList<>();
        for (int i = 0; i <= turn; i++) {
            long[][] square = new long[i + 1][i];
            for (long[] row : square) {
                Arrays.fill(row, 1);
            }
            square[i] = new long[0];
            for (long[] row : square) {
                rows.add(row.clone());
            }
        }
        long sum = 0;
        for (long[] row : rows) {
            for (Long one : boxed(row)) {
                sum += one - 1000;
            }
        }
        return sum;
    }

    private static Long[] boxed(long[] row) {
        Long[] boxed = new Long[row.length];
        for (int i = 0; i < row.length; i++) {
            boxed[i] = row[i] + 1000;                    // beyond the boxes that there are always
        }
        return boxed;
    }

    /** Unwinds as many frames, some with monitors, and returns how many these were. */
    private static long fall(int depth) {
        Object lock = new Object();
        try {
            climb(depth, lock);
            throw new IllegalStateException("nothing was thrown");
        } catch (ArithmeticException thrown) {
            same(0, Thread.holdsLock(lock) ? 1 : 0, "monitors kept");
            return Long.parseLong(thrown.getMessage());
        }
    }

    private static void climb(int depth, Object lock) {
        if (depth == 0) {
            throw new ArithmeticException("0");
        }
        try {
            synchronized (lock) {
                climb(depth - 1, lock);
            }
        } catch (ArithmeticException thrown) {
            throw new ArithmeticException("" + (Long.parseLong(thrown.getMessage()) + 1));
        }
    }

    private static void enter(int which, int turn) throws InterruptedException {
        int index = which % LOCKS.length;
        Object lock = LOCKS[index];
        synchronized (lock) {
            COUNTS[index]++;
            if (turn % 16 == 0) {
                Thread.yield();
            }
            if (turn % 20 == 1) {
                lock.notify();
            }
            if (turn % 20 == 2) {
                lock.wait(1);
            }
        }
        ENTERED.incrementAndGet();
    }

    private static void load(int seed, byte[] code) throws ReflectiveOperationException {
        LongUnaryOperator loaded = (LongUnaryOperator) define(code).getConstructor().newInstance();
        same(new Work().applyAsLong(seed), loaded.applyAsLong(seed), "computed");
    }

    /** A class whose initialiser throws does so once, and is then not there. */
    private static void breakDown(byte[] code) throws ReflectiveOperationException {
        Class<?> type = define(code);
        for (Class<?> expected : new Class<?>[] {ExceptionInInitializerError.class, NoClassDefFoundError.class}) {
            try {
                type.getConstructor().newInstance();
                throw new IllegalStateException("an initialiser that throws has thrown nothing");
            } catch (LinkageError e) {
                same(1, e.getClass() == expected ? 1 : 0, e + " instead of " + expected);
            }
        }
    }

    /** By a loader of its own, which is remembered until it is collected. */
    private static Class<?> define(byte[] code) {
        Definer loader = new Definer(code);
        if (LOADED.incrementAndGet() % 1000 == 0) {
            LOADERS.removeIf(old -> old.get() == null);
        }
        LOADERS.add(new WeakReference<>(loader));
        return loader.define();
    }
}
