package planted;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/** Texts, logs and errors. */
final class Texts {
    private Texts() {}

    /** Every tag that was ever seen. */
    @Leak(first = {"holder: static planted.Texts$Interned SEEN", "objects: count 250000 java.lang.String"},
            screen = {"collection: says HashSet|HashMap"})
    public static final class Interned {
        static final Set<String> SEEN = new HashSet<>();

        public static void main(String[] args) {
            Service.fill(250_000, i -> SEEN.add(("tag of the day " + i).intern()));
        }
    }

    static final class Download {
        final String name;
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        Download(String name) {
            this.name = name;
            byte[] chunk = new byte[4_096];
            for (int i = 0; i < 150; i++) {
                bytes.write(chunk, 0, chunk.length);
            }
        }
    }

    @Leak(first = {"holder: static planted.Texts$Chunks DOWNLOADS", "objects: count 30 planted.Texts$Download"},
            screen = {"stream: says ByteArrayOutputStream"})
    public static final class Chunks {
        static final List<Download> DOWNLOADS = new ArrayList<>();

        public static void main(String[] args) {
            Service.fill(30, i -> DOWNLOADS.add(new Download("report-" + i + ".pdf")));
        }
    }

    static final class SyncFailed extends Exception {
        private static final long serialVersionUID = 1;

        SyncFailed(String message) {
            super(message);
        }
    }

    /** Errors that are kept to be shown, with those that came after them and all their stacks. */
    @Leak(first = {"holder: static planted.Texts$Failures LAST", "objects: count 20000|40000 planted.Texts$SyncFailed"},
            screen = {"suppressed: says suppressed|backtrace|stackTrace"})
    public static final class Failures {
        static final Map<Integer, Exception> LAST = new HashMap<>();

        public static void main(String[] args) {
            Service.fill(20_000, i -> fail(i, 40));
        }

        private static void fail(int number, int depth) {
            if (depth > 0) {
                fail(number, depth - 1);
                return;
            }
            Exception failed = new SyncFailed("cannot reach node " + number);
            failed.addSuppressed(new SyncFailed("cannot close the connection to node " + number));
            LAST.put(number, failed);
        }
    }

    /** A logger by request, as each has a name of its own. */
    static final class LoggerContext {
        static final LoggerContext DEFAULT = new LoggerContext();

        final Map<String, RequestLogger> loggers = new ConcurrentHashMap<>();
    }

    static final class RequestLogger {
        final String name;
        final LoggerContext context;
        final Map<String, String> properties = new HashMap<>();

        RequestLogger(String name, LoggerContext context) {
            this.name = name;
            this.context = context;
            properties.put("level", "INFO " + name);
            properties.put("user", "guest of " + name);
        }
    }

    @Leak(first = {"holder: static planted.Texts$LoggerContext DEFAULT", "objects: count 60000 planted.Texts$RequestLogger"},
            screen = {"field: says \\bloggers\\b"})
    public static final class Loggers {
        public static void main(String[] args) {
            Service.start();
            for (int i = 0; i < 60_000; i++) {
                LoggerContext.DEFAULT.loggers.put("request." + i, new RequestLogger("request." + i, LoggerContext.DEFAULT));
            }
            Service.ready();
        }
    }

    /** What log lines of a thread have besides their text; whoever starts a thread passes it on. */
    static final class Diagnostics {
        private static final InheritableThreadLocal<Map<String, String>> CONTEXT = new InheritableThreadLocal<Map<String, String>>() {
            @Override
            protected Map<String, String> childValue(Map<String, String> parent) {
                return parent == null ? null : new HashMap<>(parent);
            }
        };

        static void put(String key, String value) {
            if (CONTEXT.get() == null) {
                CONTEXT.set(new HashMap<>());
            }
            CONTEXT.get().put(key, value);
        }
    }

    /** A thread puts what it never takes away, and starts others, which have copies. */
    @Leak(first = {"objects: says (?:[1-7]\\d\\d,\\d{3})\\W{1,3}(?:[a-z]+ ){0,3}\"?(?:java.lang.)?String\\b", "local: says (?i)thread.?local|Diagnostics",
            "threads: says (?i)listener-\\d|(?<![\\w.,])6 (?!.?B|bytes|%)[^;\\n]{0,60}thread"},
            screen = {"map: says HashMap", "kind: says InheritableThreadLocal|inheritableThreadLocals"})
    public static final class DiagnosticContext {
        public static void main(String[] args) {
            Service.start();
            CountDownLatch started = new CountDownLatch(6);
            Service.thread("listener-0", () -> listen(0, started));
            Service.await(started);
            Service.ready();
        }

        private static void listen(int number, CountDownLatch started) {
            for (int i = 0; i < 30_000; i++) {
                Diagnostics.put("request-" + number + "-" + i, "client " + i);
            }
            started.countDown();
            if (number < 5) {
                Service.thread("listener-" + (number + 1), () -> listen(number + 1, started));
            }
        }
    }
}
