package planted;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Class loaders of eight deployments of which something keeps the seven that are stopped. */
final class Loaders {
    static final int DEPLOYMENTS = 8;

    /** The deployment that runs. */
    static WebappLoader current;

    private Loaders() {}

    /** Deploys again and again, by threads that take turns, and before that undeploys what ran. */
    static void deploy(String leftover, int threads) throws Exception {
        Service.start();
        List<ExecutorService> requests = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            String name = "http-exec-" + i;
            requests.add(Executors.newSingleThreadExecutor(work -> Service.daemon(work, name)));
        }
        for (int i = 0; i < DEPLOYMENTS; i++) {
            if (current != null) {
                current.stop();
            }
            WebappLoader loader = new WebappLoader(i);
            current = loader;
            requests.get(i % threads).submit(() -> start(loader, leftover)).get();
        }
        Service.ready();
    }

    private static Void start(WebappLoader loader, String leftover) throws Exception {
        loader.loadClass("planted.WebApp").getMethod("start", String.class, int.class).invoke(null, leftover, loader.deployment);
        return null;
    }

    @Leak(first = {"loaders: count 7|8 planted.WebappLoader", "holder: says (?i)thread \"webapp-cleaner|webapp-cleaner\\b",
            "objects: count 22500|21000 planted.WebApp$Document"},
            screen = {"field: static planted.WebApp DOCUMENTS"})
    public static final class ByThread {
        public static void main(String[] args) throws Exception {
            deploy("thread", 1);
        }
    }

    @Leak(first = {"loaders: count 7|8 planted.WebappLoader", "holder: says (?i)thread.?local",
            "objects: count 22500|21000 planted.WebApp$Document"},
            screen = {"field: static planted.WebApp DOCUMENTS", "value: says WebApp\\$Context", "thread: says http-exec"})
    public static final class ByThreadLocal {
        public static void main(String[] args) throws Exception {
            deploy("local", DEPLOYMENTS);
        }
    }

    @Leak(first = {"loaders: count 7|8 planted.WebappLoader", "holder: says DriverManager",
            "objects: count 22500|21000 planted.WebApp$Document"},
            screen = {"field: static planted.WebApp DOCUMENTS", "driver: says WebApp\\$Database"})
    public static final class ByDriver {
        public static void main(String[] args) throws Exception {
            deploy("driver", 1);
        }
    }

    @Leak(first = {"loaders: count 7|8 planted.WebappLoader", "holder: says ApplicationShutdownHooks|(?i)shutdown hook",
            "objects: count 22500|21000 planted.WebApp$Document"},
            screen = {"field: static planted.WebApp DOCUMENTS", "hook: says webapp-stop"})
    public static final class ByShutdownHook {
        public static void main(String[] args) throws Exception {
            deploy("hook", 1);
        }
    }

    @Leak(first = {"loaders: count 7|8 planted.WebappLoader", "holder: says webapp-reminder",
            "objects: count 22500|21000 planted.WebApp$Document"},
            screen = {"field: static planted.WebApp DOCUMENTS", "task: says WebApp\\$Reminder"})
    public static final class ByTimer {
        public static void main(String[] args) throws Exception {
            deploy("timer", 1);
        }
    }

    @Leak(first = {"loaders: count 7|8 planted.WebappLoader", "holder: says (?i)mbean",
            "objects: count 22500|21000 planted.WebApp$Document"},
            screen = {"field: static planted.WebApp DOCUMENTS", "bean: says WebApp\\$Statistics"})
    public static final class ByBean {
        public static void main(String[] args) throws Exception {
            deploy("bean", 1);
        }
    }
}
