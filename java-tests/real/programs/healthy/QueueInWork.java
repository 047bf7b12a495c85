// uses     -
// java     25
// largest  Job\b|JOBS\b
package healthy;

import java.util.concurrent.ArrayBlockingQueue;

/** A bounded queue that is full, as it is each night. */
public final class QueueInWork {
    static final ArrayBlockingQueue<Job> JOBS = new ArrayBlockingQueue<>(20_000);

    static final class Job {
        final byte[] order = new byte[400];
    }

    public static void main(String[] args) {
        while (JOBS.offer(new Job())) {
            // Until it is full.
        }
    }
}
