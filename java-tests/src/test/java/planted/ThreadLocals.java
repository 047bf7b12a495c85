package planted;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** Values that threads keep for themselves. */
final class ThreadLocals {
    private ThreadLocals() {}

    static final class ReportBuffer {
        final byte[] bytes = new byte[1_500];
    }

    /** A request's scratch list, never removed, in each thread of a pool. */
    @Leak(first = {"objects: count 20000 planted.ThreadLocals$ReportBuffer", "local: says (?i)thread.?local",
            "threads: says (?i)(?<![\\w.,])8 (?!.?B|bytes|%)[^;\\n]{0,60}thread"},
            screen = {"pool: says report-\\d", "list: says ArrayList"})
    public static final class InPool {
        private static final ThreadLocal<List<ReportBuffer>> BUFFERS = ThreadLocal.withInitial(ArrayList::new);
        private static final AtomicInteger NUMBER = new AtomicInteger();
        private static final int THREADS = 8;

        static ExecutorService pool;

        public static void main(String[] args) {
            Service.start();
            pool = Executors.newFixedThreadPool(THREADS, work -> Service.daemon(work, "report-" + NUMBER.incrementAndGet()));
            CountDownLatch worked = new CountDownLatch(THREADS);
            for (int i = 0; i < THREADS; i++) {
                pool.execute(() -> fill(worked));
            }
            Service.await(worked);
            Service.ready();
        }

        private static void fill(CountDownLatch worked) {
            for (int i = 0; i < 2_500; i++) {
                BUFFERS.get().add(new ReportBuffer());
            }
            worked.countDown();
            Service.await(worked);
        }
    }

    static final class Conversation {
        final String topic;
        final char[] text = new char[400];

        Conversation(String topic) {
            this.topic = topic;
        }
    }

    /** As many threads as clients, each of which keeps what it said. */
    @Leak(first = {"objects: count 32000 planted.ThreadLocals$Conversation", "local: says (?i)thread.?local",
            "threads: says (?i)(?<![\\w.,])4\\d (?!.?B|bytes|%)[^;\\n]{0,60}thread"},
            screen = {"name: says client-\\d"})
    public static final class InSingleThreads {
        private static final ThreadLocal<List<Conversation>> SAID = ThreadLocal.withInitial(ArrayList::new);

        public static void main(String[] args) {
            Service.fill(40, i -> Service.thread("client-" + i, InSingleThreads::talk));
        }

        private static void talk() {
            for (int i = 0; i < 800; i++) {
                SAID.get().add(new Conversation("topic " + i));
            }
        }
    }
}
