package modes;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import subject.Say;

/** Does a little of all that is measured: allocates, computes, contends for a monitor; prints the result and ends with a code of its own. */
public class Small {
    static final int CODE = 7;
    static final int OBJECTS = 1000;
    static final String OUTPUT = "CHECK 51723 2\n";
    private static final int LARGE = 20;
    private static final int LARGE_BYTES = 1 << 20;
    private static final int MODULUS = 65_521;
    private static final long BUSY_NANOS = 30_000_000;
    private static final List<Small> KEPT = new ArrayList<>();
    private static final Object LOCK = new Object();
    private static int entered;
    static volatile byte[] large;

    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < OBJECTS; i++) {
            KEPT.add(new Small());
        }
        for (int i = 0; i < LARGE; i++) {
            large = new byte[LARGE_BYTES];               // of so much each, samples see some
        }
        Thread other = new Thread(Small::enter, "other");
        synchronized (LOCK) {
            other.start();
            while (other.getState() != Thread.State.BLOCKED) {
                Thread.yield();
            }
            entered++;
        }
        other.join();
        int value = compute(OBJECTS);
        // a thread that waits for a processor is not busy
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        for (long until = clock.getCurrentThreadCpuTime() + BUSY_NANOS; clock.getCurrentThreadCpuTime() < until;) {
            if (compute(OBJECTS) != value) {
                throw new IllegalStateException("the same came out different");
            }
        }
        Say.line("CHECK", value, entered);
        System.exit(CODE);
    }

    private static void enter() {
        synchronized (LOCK) {
            entered++;
        }
    }

    private static int compute(int rounds) {
        int value = 1;
        for (int i = 0; i < rounds; i++) {
            value = (value * 31 + i) % MODULUS;
        }
        return value;
    }
}
