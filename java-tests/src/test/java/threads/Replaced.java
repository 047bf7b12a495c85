package threads;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import subject.Say;

/**
 * Lists to which only objects refer that the compiler has replaced by registers and stack slots: in threads that wait in several ways,
 * twenty frames deep with two such objects in each; in threads that run; and, since 21, in virtual threads: one that runs, one
 * that runs and has not returned to most of its frames, and many that wait; and in continuations that belong to no thread.
 */
public class Replaced {
    static final class InCall {}
    static final class InFrame {}
    static final class InLoop {}
    static final class InOsr {}
    static final class InVirtual {}
    static final class InWaiting {}
    static final class InWaitingFrame {}
    static final class InHalf {}
    static final class InContinuation {}

    /** What the compiler replaces. */
    static final class Cursor {
        private final List<?> list;
        private int at;

        Cursor(List<?> list) {
            this.list = list;
        }

        Object next() {
            at = at + 1 < list.size() ? at + 1 : 0;
            return list.get(at);
        }
    }

    /** How the JVM compiles this, so that the compiler has done its work when the program stands. */
    public static final String[] SWITCHES = {"-Xbatch", "-XX:CompileCommand=quiet", "-XX:+UseCountedLoopSafepoints",
        "-XX:CompileCommand=dontinline,threads.Replaced::stop", "-XX:CompileCommand=dontinline,threads.Replaced::list",
        "-XX:CompileCommand=dontinline,threads.Replaced::turn", "-Djdk.virtualThreadScheduler.parallelism=6"};
    /** More objects than these are replaced. */
    public static final int MANY = 500;
    private static final int WAITING = 12;
    /** Continuations, and how many frames one thread has left when it runs on. */
    private static final int CONTINUATIONS = 3;
    private static final int LEFT = 15;
    /** More than the heap has. */
    private static final int GARBAGE_MB = 400;
    private static final int DEPTH = 20;
    private static final int LENGTH = 50;
    private static final int WARM = 20_000;
    /** How long each loop runs: the last one for ever. */
    private static final long[] ROUNDS = {2_000_000, 2_000_000, 2_000_000, 2_000_000, Long.MAX_VALUE};

    /** A way to stop: a continuation leaves its thread. */
    private static final int YIELD = 3;
    private static final Object LOCK = new Object();
    private static final CountDownLatch END = new CountDownLatch(1);
    private static volatile CountDownLatch stood;
    private static volatile boolean end;
    private static volatile int sink;
    private static volatile byte[] garbage;
    private static MethodHandle leave;
    private static final List<Object> CONTINUED = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < WARM; i++) {
            sink += frames(2, -1, false) + loop(list(InLoop.class), 10) + loop(list(InVirtual.class), 10)
                    + frames(2, -1, true) + half(2, 2) + iterate(list(InContinuation.class), -1);
        }
        String java = System.getProperty("java.specification.version");
        int major = java.startsWith("1.") ? 8 : Integer.parseInt(java);
        boolean hasVirtual = major >= 21;
        stood = new CountDownLatch(WAITING + (hasVirtual ? WAITING + 4 + CONTINUATIONS : 2));
        List<Thread> threads = new ArrayList<>();
        synchronized (LOCK) {
            for (int i = 0; i < WAITING; i++) {
                int way = i % 3;
                threads.add(new Thread(() -> sink += frames(DEPTH, way, false), "waits-" + i));
            }
            threads.add(new Thread(() -> sink += loop(begin(list(InLoop.class)), Long.MAX_VALUE), "runs"));
            threads.add(new Thread(Replaced::osr, "runs since it began"));
            threads.forEach(Thread::start);
            if (hasVirtual) {
                Runnable loops = () -> sink += loop(begin(list(InVirtual.class)), Long.MAX_VALUE);
                startVirtual(loops);
                startVirtual(() -> sink += half(DEPTH, LEFT));
                for (int i = 0; i < WAITING; i++) {
                    // Until 23, a thread that waits for a monitor keeps its carrier.
                    int way = major < 24 && i % 3 == 1 ? 0 : i % 3;
                    threads.add(startVirtual(() -> sink += frames(DEPTH, way, true)));
                    if (i == WAITING / 2) {
                        collect(threads.subList(threads.size() - i - 1, threads.size()));
                    }
                }
                // A continuation takes the locks with it that its thread holds, so not here.
                Thread runs = new Thread(Replaced::runToYield);
                runs.start();
                runs.join();
            }
            stood.await();
            for (Thread thread : threads) {
                boolean runs = thread.getName().startsWith("runs");
                while (!runs && thread.getState() == Thread.State.RUNNABLE) {
                    Thread.yield();
                }
            }
            Say.expect(hasVirtual ? WAITING * LENGTH : 0, InWaiting.class);
            Say.expect(hasVirtual ? WAITING * (DEPTH + 1) * 2 : 0, InWaitingFrame.class);
            Say.expect(hasVirtual ? LEFT + 1 : 0, InHalf.class);
            Say.expect(hasVirtual ? CONTINUATIONS * LENGTH : 0, InContinuation.class);
            Say.expect(WAITING * LENGTH, InCall.class);
            Say.expect(WAITING * (DEPTH + 1) * 2, InFrame.class);
            Say.expect(LENGTH, InLoop.class);
            Say.expect(LENGTH, InOsr.class);
            Say.expect(hasVirtual ? LENGTH : 0, InVirtual.class);
            Say.ready();
            end = true;
        }
        END.countDown();
        for (Thread thread : threads) {
            LockSupport.unpark(thread);
            thread.join();
        }
        Say.line("ENDED");
    }

    private static Thread startVirtual(Runnable task) throws ReflectiveOperationException {
        return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    }

    /** When these threads wait, makes the JVM collect, so that their frames are moved. */
    private static void collect(List<Thread> threads) {
        for (Thread thread : threads) {
            while (thread.getState() == Thread.State.RUNNABLE || thread.getState() == Thread.State.NEW) {
                Thread.yield();
            }
        }
        for (int i = 0; i < GARBAGE_MB; i++) {
            garbage = new byte[1 << 20];
        }
        System.gc();
    }

    /** Keeps continuations that have yielded, by the JDK's own class. */
    private static void runToYield() {
        try {
            for (int i = 0; i < CONTINUATIONS; i++) {
                CONTINUED.add(yielded());
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Object yielded() throws ReflectiveOperationException {
        Class<?> scopes = Class.forName("jdk.internal.vm.ContinuationScope");
        Class<?> continuations = Class.forName("jdk.internal.vm.Continuation");
        Object scope = scopes.getConstructor(String.class).newInstance("test");
        leave = MethodHandles.lookup().findStatic(continuations, "yield", MethodType.methodType(boolean.class, scopes)).bindTo(scope);
        Runnable body = () -> sink += iterate(list(InContinuation.class), YIELD);
        Object continuation = continuations.getConstructor(scopes, Runnable.class).newInstance(scope, body);
        continuations.getMethod("run").invoke(continuation);
        return continuation;
    }

    private static List<Object> list(Class<?> of) {
        List<Object> list = new ArrayList<>();
        for (int i = 0; i < LENGTH; i++) {
            list.add(of == InCall.class ? new InCall() : of == InLoop.class ? new InLoop() : of == InOsr.class ? new InOsr()
                    : of == InWaiting.class ? new InWaiting() : of == InContinuation.class ? new InContinuation() : new InVirtual());
        }
        return list;
    }

    /** So many frames and one more, and a loop in the last. */
    private static int frames(int more, int way, boolean isVirtual) {
        Cursor first = new Cursor(Collections.singletonList(isVirtual ? new InWaitingFrame() : new InFrame()));
        Cursor second = new Cursor(Collections.singletonList(isVirtual ? new InWaitingFrame() : new InFrame()));
        int below = more == 0 ? iterate(list(isVirtual ? InWaiting.class : InCall.class), way) : frames(more - 1, way, isVirtual);
        return below + first.next().hashCode() + second.next().hashCode();
    }

    /** This many frames and one more, which waits for a moment. When this many are left, the last runs for ever. */
    private static int half(int more, int left) {
        Cursor cursor = new Cursor(Collections.singletonList(new InHalf()));
        if (more == 0) {
            turn(left);
            return cursor.next().hashCode();
        }
        int below = half(more - 1, left - 1);
        if (left == 0) {
            turn(-1);
        }
        return below + cursor.next().hashCode();
    }

    /** Waits for a moment, or runs until the end. */
    private static void turn(int left) {
        if (stood == null) {
            return;
        }
        if (left != -1) {
            LockSupport.parkNanos(1);
            return;
        }
        stood.countDown();
        while (!end) {
            sink++;
        }
    }

    private static int iterate(List<Object> list, int way) {
        int sum = 0;
        int at = 0;
        for (Object element : list) {
            stop(at++ == LENGTH / 2 ? way : -1);
            sum += element.hashCode();
        }
        return sum;
    }

    private static int loop(List<Object> list, long rounds) {
        Cursor cursor = new Cursor(list);
        int sum = 0;
        for (long i = 0; i < rounds && !end; i++) {
            sum += cursor.next() == null ? 1 : 2;
        }
        return sum;
    }

    /** Is never called again, so the compiler replaces its loop while it runs. */
    private static void osr() {
        int sum = 0;
        for (long rounds : ROUNDS) {
            Cursor cursor = new Cursor(rounds == Long.MAX_VALUE ? begin(list(InOsr.class)) : list(InOsr.class));
            for (long i = 0; i < rounds && !end; i++) {
                sum += cursor.next() == null ? 1 : 2;
            }
        }
        sink += sum;
    }

    /** The list, with which a loop begins that runs until the end. */
    private static List<Object> begin(List<Object> list) {
        stood.countDown();
        return list;
    }

    /** Waits in one of several ways, or not at all. */
    private static void stop(int way) {
        if (way < 0) {
            return;
        }
        stood.countDown();
        try {
            if (way == YIELD) {
                leave.invoke();
            } else if (way == 0) {
                END.await();
            } else if (way == 1) {
                synchronized (LOCK) {
                    sink++;
                }
            } else {
                while (!end) {
                    LockSupport.park();
                }
            }
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
