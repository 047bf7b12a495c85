package cpu;

import java.lang.management.ManagementFactory;
import subject.Say;

/** Two threads run the same code, one of them three times as long. */
public class TwoThreads {
    private static final long STEPS = 150_000_000;

    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = {new Thread(() -> run(3), "three times"), new Thread(() -> run(1), "once")};
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Say.ready();
    }

    static void run(int times) {
        for (int i = 0; i < times; i++) {
            Mix.sink += Mix.spin(Mix.sink, STEPS);
        }
        long tookNs = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        String name = Thread.currentThread().getName().replace(' ', '_');
        synchronized (TwoThreads.class) {
            Say.line("TOOK", name, tookNs);
        }
    }
}
