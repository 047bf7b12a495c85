package threads;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import subject.Say;

/** Virtual threads that yield again and again, so that some are always being mounted or unmounted. Each has one possible path. */
public class Yielding implements Runnable {
    private static final int THREADS = 50;
    private static final CountDownLatch DEEP = new CountDownLatch(THREADS);
    static volatile boolean going = true;
    static volatile int sink;

    /** Only a frame of {@link #middle} has one. */
    static final class Marker {
        int number;
    }

    public static void main(String[] args) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            threads.add(Thread.ofVirtual().name("yielding-" + i).start(new Yielding()));
        }
        DEEP.await();
        Say.ready();
        going = false;
        for (Thread thread : threads) {
            thread.join();
        }
    }

    @Override
    public void run() {
        outer(new int[8]);
    }

    /** The lambda's frame has no object: what it has captured is no longer used. */
    private static void outer(int[] held) {
        Runnable inside = () -> middle(held);
        inside.run();
    }

    private static void middle(int[] held) {
        Marker marker = new Marker();
        inner(held);
        marker.number++;
        sink += marker.number;
    }

    private static void inner(int[] held) {
        DEEP.countDown();
        while (going) {
            Thread.yield();
            held[0]++;
        }
    }
}
