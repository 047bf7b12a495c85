package same;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Threads that stand for ever: parked, waiting and blocked, with locals, operands and locks. Runs on Java 8. */
class ManyThreads {
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Object CONTENDED = new Object();
    private static final Object WAITED_FOR = new Object();
    private static final CountDownLatch HELD = new CountDownLatch(1);

    /** Only frames hold instances of it. */
    static final class Local {
        final String of;

        Local(String of) {
            this.of = of;
        }
    }

    private ManyThreads() {}

    static List<Object> all() throws Exception {
        List<Object> all = new ArrayList<>();
        all.add(stand("parked", Thread.State.WAITING, ManyThreads::park));
        all.add(stand("deep", Thread.State.WAITING, () -> deep(50, new Local("top"))));
        all.add(stand("operand", Thread.State.WAITING, ManyThreads::operand));
        all.add(stand("mixed", Thread.State.WAITING, () -> mixed(1, new Local("argument"), 2L, 3.0, new int[] {4})));
        all.add(stand("sleeping", Thread.State.TIMED_WAITING, ManyThreads::sleep));
        all.add(stand("holding", Thread.State.WAITING, ManyThreads::hold));
        HELD.await();
        all.add(stand("blocked", Thread.State.BLOCKED, ManyThreads::block));
        all.add(stand("waiting", Thread.State.WAITING, ManyThreads::waitFor));
        all.add(stand("queued", Thread.State.WAITING, LOCK::lock));
        pool(all);
        synchronized (all) {
            all.hashCode();
        }
        return all;
    }

    private static void pool(List<Object> all) throws Exception {
        List<Thread> workers = new ArrayList<>();
        ExecutorService pool = Executors.newFixedThreadPool(1, work -> {
            workers.add(daemon("pool", work));
            return workers.get(0);
        });
        all.add(pool.submit(() -> new Local("result")).get());
        await(workers.get(0), Thread.State.WAITING);
        all.add(pool);
    }

    private static Thread daemon(String name, Runnable work) {
        Thread thread = new Thread(new ThreadGroup("group of " + name), work, name);
        thread.setDaemon(true);
        return thread;
    }

    private static Thread stand(String name, Thread.State state, Runnable work) {
        Thread thread = daemon(name, work);
        thread.start();
        await(thread, state);
        return thread;
    }

    private static void await(Thread thread, Thread.State state) {
        while (thread.getState() != state) {
            Thread.yield();
        }
    }

    private static Object park() {
        Local local = new Local("parked");
        int between = local.hashCode();
        Object[] array = {local, between};
        while (true) {
            LockSupport.park(array);
        }
    }

    private static Object deep(int depth, Local local) {
        Local own = new Local("depth " + depth);
        return depth == 0 ? park() : deep(depth - 1, own) + local.of + own;
    }

    /** While the second argument is computed the first is an operand: no local has it. */
    private static void operand() {
        two(new Local("operand"), park());
    }

    private static void two(Object one, Object other) {
        throw new IllegalStateException(one + " " + other);
    }

    private static Object mixed(int a, Local b, long c, double d, int[] e) {
        long f = a + c;
        {
            Object gone = new Local("gone");
            f += gone.hashCode();
        }
        Object g = new Local("late");
        return "" + park() + a + b + c + d + e + f + g;
    }

    private static void sleep() {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void hold() {
        Local own = new Local("own lock");
        own.hashCode();                                  // its header has to hold a hash and a lock
        LOCK.lock();
        synchronized (own) {
            synchronized (CONTENDED) {
                synchronized (ManyThreads.class) {
                    HELD.countDown();
                    park();
                }
            }
        }
    }

    private static void block() {
        Local local = new Local("blocked");
        synchronized (CONTENDED) {
            park();
        }
        two(local, null);
    }

    private static void waitFor() {
        synchronized (WAITED_FOR) {
            try {
                while (true) {
                    WAITED_FOR.wait();
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
