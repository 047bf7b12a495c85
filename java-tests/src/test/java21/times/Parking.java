package times;

import java.util.ArrayList;
import java.util.List;
import subject.Say;

/** Virtual threads that wait, that compute, and that do both in turn, on whatever carrier they come to. */
public final class Parking {
    private static final int EACH = 100;
    private static volatile long sink;

    private static void burn(long millis) {
        long end = System.nanoTime() + millis * 1_000_000;
        while (System.nanoTime() < end) {
            sink++;
        }
    }

    private static void parks() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void works() {
        burn(4);
    }

    private static void both() {
        parks();
        burn(2);
        parks();
        burn(2);
    }

    public static void main(String[] args) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < EACH; i++) {
            threads.add(Thread.startVirtualThread(Parking::parks));
            threads.add(Thread.startVirtualThread(Parking::works));
            threads.add(Thread.startVirtualThread(Parking::both));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Say.ready();
    }
}
