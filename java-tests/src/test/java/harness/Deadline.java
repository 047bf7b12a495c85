package harness;

import java.time.Duration;

/** A moment after which waiting is a failure. */
public final class Deadline {
    private final long end;

    private Deadline(Duration limit) {
        end = System.nanoTime() + limit.toNanos();
    }

    public static Deadline in(Duration limit) {
        return new Deadline(limit);
    }

    /** What is left, never negative. */
    long millis() {
        return Math.max(0, (end - System.nanoTime()) / 1_000_000);
    }

    public boolean over() {
        return end - System.nanoTime() <= 0;
    }
}
