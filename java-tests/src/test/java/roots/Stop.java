package roots;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Where a thread stops for ever, and how. It prints who has stopped, so that the test does not go on too early. */
public final class Stop {
    /** A way to stop. */
    interface Way {
        void stop() throws Exception;
    }

    /** Holds on to what would else be closed. */
    private static final List<Object> KEPT = new ArrayList<>();
    private static final Object MONITOR = new Object();
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Thread SLEEPER = new Thread(() -> sleep(), "sleeper");

    /** Does not stop: for the first times, after which everything is compiled. */
    static final Stop NEVER = new Stop(null);
    public static volatile long passed;

    private final Way way;
    private volatile Thread thread;
    private volatile boolean isNative;

    Stop(Way way) {
        this.way = way;
    }

    /** Has the main thread own what others want, and other threads there that they wait for. */
    static void prepare() {
        LOCK.lock();
        SLEEPER.setDaemon(true);
        SLEEPER.start();
    }

    /** Runs what owns the monitor for which others wait. */
    static void withMonitor(Runnable run) {
        synchronized (MONITOR) {
            run.run();
        }
    }

    /** The calling thread stops here, for ever. */
    public void here() {
        if (way == null) {
            passed++;
            return;
        }
        thread = Thread.currentThread();
        try {
            while (true) {
                way.stop();
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** The calling thread stops in native code, next. */
    void inNative() {
        isNative = true;
        thread = Thread.currentThread();
    }

    /** The calling thread has come to where it runs for ever. */
    void running() {
        inNative();
    }

    boolean hasStopped() {
        Thread stopped = thread;
        return stopped != null && (isNative || stopped.getState() != Thread.State.RUNNABLE || isInNative(stopped.getStackTrace()));
    }

    @Override
    public String toString() {
        Thread at = thread;
        return at == null ? "nobody came" : at + " " + at.getState();
    }

    private static boolean isInNative(StackTraceElement[] stack) {
        return stack.length > 0 && stack[0].isNativeMethod() && !stack[0].getClassName().equals("java.lang.Thread");
    }

    static void park() {
        LockSupport.park();
    }

    static void parkNanos() {
        LockSupport.parkNanos(Long.MAX_VALUE);
    }

    static void sleep() {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void await() throws Exception {
        Object own = new Object();
        synchronized (own) {
            own.wait();
        }
    }

    static void enter() {
        synchronized (MONITOR) {
            passed++;
        }
    }

    static void lock() {
        LOCK.lock();
    }

    static void join() throws Exception {
        SLEEPER.join();
    }

    static void latch() throws Exception {
        new CountDownLatch(1).await();
    }

    static void take() throws Exception {
        new LinkedBlockingQueue<>().take();
    }

    static void future() throws Exception {
        new CompletableFuture<>().get();
    }

    static void forkJoin() {
        ForkJoinTask<Void> never = new RecursiveAction() {
            @Override
            protected void compute() {
                sleep();
            }
        };
        never.join();
    }

    static void accept() throws IOException {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        keep(server);
        server.accept();
    }

    static void read() throws IOException {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket socket = new Socket(server.getInetAddress(), server.getLocalPort());
        keep(server);
        keep(socket);
        socket.getInputStream().read();
    }

    static void select() throws IOException {
        Selector selector = Selector.open();
        keep(selector);
        selector.select();
    }

    private static void keep(Object resource) {
        synchronized (KEPT) {
            KEPT.add(resource);
        }
    }
}
