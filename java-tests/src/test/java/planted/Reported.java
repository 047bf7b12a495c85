package planted;

import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import javax.management.JMException;
import javax.management.ObjectName;

/** Leaks as users of libraries reported them. */
final class Reported {
    private Reported() {}

    static final class SessionFactory {
        static final SessionFactory CURRENT = new SessionFactory();

        final Statistics statistics = new Statistics();
    }

    static final class Statistics {
        final Map<String, QueryStatistics> queries = new ConcurrentHashMap<>();
    }

    static final class QueryStatistics {
        long executions;
        long slowest;
    }

    /** A mapper counts by the text of the query, in which the values are. */
    @Leak(first = {"holder: static planted.Reported$SessionFactory CURRENT", "objects: count 20000 planted.Reported$QueryStatistics",
        "map: says ConcurrentHashMap(?!\\$)"}, screen = {"field: says \\bqueries\\b", "texts: says java.lang.String\\b"})
    public static final class Queries {
        public static void main(String[] args) {
            Service.start();
            char[] columns = new char[800];
            Arrays.fill(columns, 'c');
            for (int i = 0; i < 20_000; i++) {
                String query = "select " + new String(columns) + " from orders where id in (" + i + ")";
                SessionFactory.CURRENT.statistics.queries.put(query, new QueryStatistics());
            }
            Service.ready();
        }
    }

    static final class Timeout extends TimerTask {
        final byte[] session = new byte[700];

        @Override
        public void run() {}
    }

    /** Tasks that are cancelled stay in the timer's queue until they are due. */
    @Leak(first = {"holder: says session-timeouts|TIMER\\b", "objects: count 30000 planted.Reported$Timeout"},
            screen = {"queue: says TaskQueue", "thread: says TimerThread"})
    public static final class Cancelled {
        static final Timer TIMER = new Timer("session-timeouts", true);

        public static void main(String[] args) {
            Service.start();
            // The timer drops what is cancelled only while that is the first.
            TIMER.schedule(new Timeout(), TimeUnit.HOURS.toMillis(1));
            for (int i = 0; i < 30_000; i++) {
                Timeout timeout = new Timeout();
                TIMER.schedule(timeout, TimeUnit.DAYS.toMillis(1));
                timeout.cancel();
            }
            Service.ready();
        }
    }

    /** What a bean tells. */
    public interface ClientMetricsMBean {
        long getSent();
    }

    /** The metrics of one client. */
    public static final class ClientMetrics implements ClientMetricsMBean {
        private final long[] window = new long[250];

        @Override
        public long getSent() {
            return window[0];
        }
    }

    /** Each new client registers its metrics, and none takes them away. */
    @Leak(first = {"holder: says (?i)mbean", "objects: count 8000 planted.Reported$ClientMetrics"},
            screen = {"place: says (?i)repository|domainTb"})
    public static final class Metrics {
        public static void main(String[] args) throws JMException {
            Service.start();
            for (int i = 0; i < 8_000; i++) {
                ObjectName name = new ObjectName("shop.producer:type=metrics,client-id=producer-" + i);
                ManagementFactory.getPlatformMBeanServer().registerMBean(new ClientMetrics(), name);
            }
            Service.ready();
        }
    }

    static final class Quote {
        final double[] prices = new double[40];
    }

    @Leak(first = {"holder: static planted.Reported$ByTime QUOTES", "objects: count 50000 planted.Reported$Quote",
        "map: says ConcurrentSkipListMap(?!\\$)"})
    public static final class ByTime {
        static final Map<Long, Quote> QUOTES = new ConcurrentSkipListMap<>();

        public static void main(String[] args) {
            Service.start();
            for (long i = 0; i < 50_000; i++) {
                QUOTES.put(1_700_000_000_000L + i, new Quote());
            }
            Service.ready();
        }
    }

    enum Channel {
        MAIL, PHONE, LETTER, PUSH
    }

    static final class Setting {
        final byte[] template = new byte[120];
    }

    /** Settings by account and channel. */
    @Leak(first = {"holder: static planted.Reported$Settings BY_ACCOUNT", "objects: count 80000 planted.Reported$Setting"},
            screen = {"maps: count 20000 java.util.EnumMap"})
    public static final class Settings {
        static final Map<Integer, Map<Channel, Setting>> BY_ACCOUNT = new HashMap<>();

        public static void main(String[] args) {
            Service.start();
            for (int i = 0; i < 20_000; i++) {
                Map<Channel, Setting> settings = new EnumMap<>(Channel.class);
                Arrays.stream(Channel.values()).forEach(channel -> settings.put(channel, new Setting()));
                BY_ACCOUNT.put(i, settings);
            }
            Service.ready();
        }
    }

    static final class Invoice {
        final byte[] pages = new byte[900];
    }

    /** Nobody takes what is completed. */
    @Leak(first = {"holder: static planted.Reported$Completed PRINTING", "objects: count 25000 planted.Reported$Invoice",
        "queue: says LinkedBlockingQueue(?!\\$)|completionQueue"}, screen = {"future: says (?i)future"})
    public static final class Completed {
        static final ExecutorService PRINTERS = Executors.newSingleThreadExecutor(work -> Service.daemon(work, "printer"));
        static final CompletionService<Invoice> PRINTING = new ExecutorCompletionService<>(PRINTERS);

        public static void main(String[] args) throws Exception {
            Service.start();
            for (int i = 0; i < 25_000; i++) {
                PRINTING.submit(Invoice::new);
            }
            PRINTERS.submit(() -> {}).get();
            Service.ready();
        }
    }

    static final class Rule {
        final byte[] expression = new byte[500];

        String apply(String text) {
            return text + expression.length;
        }
    }

    /** Each reload of the settings wraps the filter that is there. */
    @Leak(first = {"holder: static planted.Reported$Wrapped filter", "objects: count 30000 planted.Reported$Rule"},
            screen = {"lambda: says Lambda"})
    public static final class Wrapped {
        static UnaryOperator<String> filter = UnaryOperator.identity();

        public static void main(String[] args) {
            Service.fill(30_000, i -> filter = wrap(filter, new Rule()));
        }

        private static UnaryOperator<String> wrap(UnaryOperator<String> inner, Rule rule) {
            return text -> rule.apply(inner.apply(text));
        }
    }

    static final class Purchase {
        final byte[] basket = new byte[600];
    }

    /** Keeps records to show the last ones, and forgets to drop the others. */
    static final class Recent extends Handler {
        final List<LogRecord> records = new ArrayList<>();

        @Override
        public void publish(LogRecord record) {
            records.add(record);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    @Leak(first = {"holder: says Reported\\$Recent\\b|\\bLOGGER\\b",
        "objects: count 25000 planted.Reported$Purchase java.util.logging.LogRecord"},
            screen = {"field: says \\brecords\\b", "record: says LogRecord"})
    public static final class LogRecords {
        static final Logger LOGGER = Logger.getLogger("shop.purchases");

        public static void main(String[] args) {
            LOGGER.setUseParentHandlers(false);
            LOGGER.addHandler(new Recent());
            Service.start();
            for (int i = 0; i < 25_000; i++) {
                LOGGER.log(Level.INFO, "bought {0}", new Purchase());
            }
            Service.ready();
        }
    }

    /** Sends to all who subscribed. */
    static final class Topic {
        volatile Subscription[] subscriptions = {};

        void subscribe() {
            Subscription[] all = Arrays.copyOf(subscriptions, subscriptions.length + 1);
            all[subscriptions.length] = new Subscription(this);
            subscriptions = all;
        }

        void send(byte[] message) {
            for (Subscription each : subscriptions) {
                each.messages.addLast(message.clone());
            }
        }
    }

    static final class Subscription {
        final Topic topic;
        final Deque<byte[]> messages = new ArrayDeque<>();

        Subscription(Topic topic) {
            this.topic = topic;
        }
    }

    /** Nobody cancels, so the messages of those who went away gather. */
    @Leak(first = {"holder: static planted.Reported$Topics PRICES", "objects: count 6000 planted.Reported$Subscription"},
            screen = {"field: says \\bsubscriptions\\b", "messages: says byte\\[\\]"})
    public static final class Topics {
        static final Topic PRICES = new Topic();

        public static void main(String[] args) {
            Service.start();
            for (int i = 0; i < 6_000; i++) {
                PRICES.subscribe();
            }
            for (int i = 0; i < 8; i++) {
                PRICES.send(new byte[400]);
            }
            Service.ready();
        }
    }
}
