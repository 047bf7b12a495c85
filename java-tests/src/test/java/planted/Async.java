package planted;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Work that is to be done later, and never is. */
final class Async {
    private Async() {}

    static final class Request {
        final byte[] body = new byte[800];

        int answer() {
            return body.length;
        }
    }

    /** All wait for one answer, which does not come. */
    static final class Gateway {
        final CompletableFuture<Integer> connected = new CompletableFuture<>();

        void send(Request request) {
            connected.thenApply(code -> code + request.answer());
        }
    }

    @Leak(first = {"holder: static planted.Async$Futures GATEWAY", "future: says CompletableFuture(?!\\$)",
            "objects: count 30000 planted.Async$Request"},
            screen = {"field: says \\bconnected\\b"})
    public static final class Futures {
        static final Gateway GATEWAY = new Gateway();

        public static void main(String[] args) {
            Service.fill(30_000, i -> GATEWAY.send(new Request()));
        }
    }

    /** Time-outs that nobody cancels when the answer has come stay in the executor's queue until they are due. */
    @Leak(first = {"holder: static planted.Async$Timeouts TIMER", "objects: count 30000 planted.Async$Request"},
            screen = {"queue: says DelayedWorkQueue", "tasks: says ScheduledFutureTask"})
    public static final class Timeouts {
        static final ScheduledThreadPoolExecutor TIMER =
                new ScheduledThreadPoolExecutor(1, work -> Service.daemon(work, "timeouts"));

        public static void main(String[] args) {
            Service.start();
            for (int i = 0; i < 30_000; i++) {
                Request request = new Request();
                TIMER.schedule(request::answer, 10, TimeUnit.HOURS);
            }
            Service.ready();
        }
    }

    /** A client of a chat, which waits in a virtual thread. */
    static final class Chat implements Runnable {
        static final CountDownLatch OPEN = new CountDownLatch(3_000);
        static final CountDownLatch CLOSED = new CountDownLatch(1);

        @Override
        public void run() {
            byte[] buffer = new byte[8_000];
            OPEN.countDown();
            Service.await(CLOSED); // the chat waits here
            buffer[0]++;
        }
    }

    @Leak(since = 21, first = {"threads: says (?i)\\b3,000 [^;\\n]{0,60}virtual",
            "frame: says Chat\\.run"},
            screen = {"line: line Async.java the chat waits here", "buffers: count 3000 byte[]"})
    public static final class VirtualThreads {
        public static void main(String[] args) throws ReflectiveOperationException {
            Service.start();
            for (int i = 0; i < 3_000; i++) {
                // Java 8 has no such method.
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, new Chat());
            }
            Service.await(Chat.OPEN);
            Service.ready();
        }
    }
}
