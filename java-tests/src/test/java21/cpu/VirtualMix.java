package cpu;

import java.util.ArrayList;
import java.util.List;
import subject.Say;

/** Virtual threads that compute, and leave their carrier between. */
public class VirtualMix {
    public static void main(String[] args) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            threads.add(Thread.startVirtualThread(VirtualMix::compute));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Say.ready();
    }

    static void compute() {
        for (int i = 0; i < 10; i++) {
            Mix.sink += Mix.spin(Mix.sink, 3_000_000);
            Thread.yield();
        }
    }
}
