package threads;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;
import subject.Say;

/**
 * Threads that never stand still: they go down and up again through calls that are compiled, inlined or interpreted, by reflection and
 * by method handles, and through exceptions. Each frame has objects. A line has one call of this class at most, by its name.
 */
public class Running implements Runnable {
    /** What is never compiled. */
    public static final String[] SWITCHES = {"-XX:CompileCommand=quiet", "-XX:CompileCommand=exclude,threads.Running::interpreted"};
    private static final int THREADS = 6;
    private static final int DEPTH = 60;
    private static final int WARM = 3000;
    private static final int KINDS = 8;

    private static final IntUnaryOperator LAMBDA = depth -> first(depth - 1, new int[depth]);
    private static final Method METHOD = method();
    private static final MethodHandle HANDLE = handle();

    static volatile boolean going = true;
    static volatile int sink;

    private final int start;

    Running(int start) {
        this.start = start;
    }

    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < WARM; i++) {
            sink += first(i % DEPTH, new int[i]);
        }
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(new Running(i), "running-" + i);
            thread.start();
            threads.add(thread);
        }
        Say.ready();
        going = false;
        for (Thread thread : threads) {
            thread.join();
        }
    }

    @Override
    public void run() {
        for (int i = start; going; i++) {
            sink += first(i % DEPTH, new int[i % DEPTH]);
        }
    }

    private static int first(int depth, int[] held) {
        if (depth <= 0) {
            return last(held);
        }
        Object own = new int[depth];
        switch (depth % KINDS) {
            case 0: return LAMBDA.applyAsInt(depth) + own.hashCode();
            case 1: return interpreted(depth - 1, held) + own.hashCode();
            case 2: return failing(depth - 1, held) + own.hashCode();
            case 3: return reflected(depth, held) + own.hashCode();
            case 4: return handled(depth, held) + own.hashCode();
            default: return second(depth - 1, held) + own.hashCode();
        }
    }

    private static int second(int depth, int[] held) {
        long[] own = new long[held.length + 1];
        own[0] = third(depth, own);
        return (int) own[0] + held.length;
    }

    private static int third(int depth, long[] held) {
        Object[] own = {held, null};
        own[1] = first(depth - 1, new int[held.length]);
        return own[1].hashCode() + own.length;
    }

    private static int interpreted(int depth, int[] held) {
        short[] own = new short[held.length + 1];
        int sum = second(depth, held);
        return sum + own.length;
    }

    private static int failing(int depth, int[] held) {
        Object own = new Object[held.length];
        try {
            return thrower(depth, held) + own.hashCode();
        } catch (IllegalStateException e) {
            return third(depth - 2, new long[held.length]) + e.hashCode();
        }
    }

    private static int thrower(int depth, int[] held) {
        if (depth % 3 == 0) {
            throw new IllegalStateException(Arrays.toString(held));
        }
        return first(depth - 1, held);
    }

    private static int reflected(int depth, int[] held) {
        try {
            return (Integer) METHOD.invoke(null, depth - 1, held);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int handled(int depth, int[] held) {
        try {
            return (int) HANDLE.invokeExact(depth - 1, held);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static int last(int[] held) {
        int[] own = held.clone();
        Arrays.sort(own);
        int sum = 0;
        for (int i = 0; i < 100; i++) {
            sum += own.length * i ^ sink;
        }
        return sum;
    }

    private static Method method() {
        try {
            return Running.class.getDeclaredMethod("second", int.class, int[].class);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static MethodHandle handle() {
        try {
            return MethodHandles.lookup().findStatic(Running.class, "second", MethodType.methodType(int.class, int.class, int[].class));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
