package threads;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import subject.Say;

/**
 * Lists to which only objects refer that the compiler has replaced by registers and stack slots: in threads that wait in several ways,
 * twenty frames deep with two such objects in each; in threads that run; and, since 21, in a virtual thread that runs.
 */
public class Replaced {
    static final class InCall {}
    static final class InFrame {}
    static final class InLoop {}
    static final class InOsr {}
    static final class InVirtual {}

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
        "-XX:CompileCommand=dontinline,threads.Replaced::stop", "-XX:CompileCommand=dontinline,threads.Replaced::list"};
    /** More objects than these are replaced. */
    public static final int MANY = 500;
    private static final int WAITING = 12;
    private static final int DEPTH = 20;
    private static final int LENGTH = 50;
    private static final int WARM = 20_000;
    /** How long each loop runs: the last one for ever. */
    private static final long[] ROUNDS = {2_000_000, 2_000_000, 2_000_000, 2_000_000, Long.MAX_VALUE};

    private static final Object LOCK = new Object();
    private static final CountDownLatch END = new CountDownLatch(1);
    private static volatile CountDownLatch stood;
    private static volatile boolean end;
    private static volatile int sink;

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < WARM; i++) {
            sink += frames(2, -1) + loop(list(InLoop.class), 10) + loop(list(InVirtual.class), 10);
        }
        String java = System.getProperty("java.specification.version");
        boolean hasVirtual = !java.startsWith("1.") && Integer.parseInt(java) >= 21;
        stood = new CountDownLatch(WAITING + (hasVirtual ? 3 : 2));
        List<Thread> threads = new ArrayList<>();
        synchronized (LOCK) {
            for (int i = 0; i < WAITING; i++) {
                int way = i % 3;
                threads.add(new Thread(() -> sink += frames(DEPTH, way), "waits-" + i));
            }
            threads.add(new Thread(() -> sink += loop(begin(list(InLoop.class)), Long.MAX_VALUE), "runs"));
            threads.add(new Thread(Replaced::osr, "runs since it began"));
            threads.forEach(Thread::start);
            if (hasVirtual) {
                Runnable runs = () -> sink += loop(begin(list(InVirtual.class)), Long.MAX_VALUE);
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, runs);
            }
            stood.await();
            for (Thread thread : threads) {
                boolean runs = thread.getName().startsWith("runs");
                while (!runs && thread.getState() == Thread.State.RUNNABLE) {
                    Thread.yield();
                }
            }
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

    private static List<Object> list(Class<?> of) {
        List<Object> list = new ArrayList<>();
        for (int i = 0; i < LENGTH; i++) {
            list.add(of == InCall.class ? new InCall() : of == InLoop.class ? new InLoop() : of == InOsr.class ? new InOsr() : new InVirtual());
        }
        return list;
    }

    /** So many frames and one more, and a loop in the last. */
    private static int frames(int more, int way) {
        Cursor first = new Cursor(Collections.singletonList(new InFrame()));
        Cursor second = new Cursor(Collections.singletonList(new InFrame()));
        int below = more == 0 ? iterate(list(InCall.class), way) : frames(more - 1, way);
        return below + first.next().hashCode() + second.next().hashCode();
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
            if (way == 0) {
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
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
