package planted;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A cache without bounds, deep in the application's own objects. */
@Leak(dump = "heap=all",
        first = {"holder: static planted.UnboundedCache application", "cache: says ReportCache",
            "objects: count 20000 planted.UnboundedCache$Report", "site: line UnboundedCache.java allocates the text"},
        screen = {"field: says \\breports\\b", "collection: says ConcurrentHashMap"})
public final class UnboundedCache {
    private static Application application;

    static final class Application {
        final Controller controller = new Controller(new ReportService());
    }

    static final class Controller {
        final ReportService service;

        Controller(ReportService service) {
            this.service = service;
        }
    }

    static final class ReportService {
        final ReportCache cache = new ReportCache();

        Report report(String query) {
            return cache.reports.computeIfAbsent(query, Report::new);
        }
    }

    static final class ReportCache {
        final Map<String, Report> reports = new ConcurrentHashMap<>();
    }

    static final class Report {
        final String query;
        final byte[] text = new byte[1_200]; // allocates the text

        Report(String query) {
            this.query = query;
        }
    }

    public static void main(String[] args) {
        Service.start();
        application = new Application();
        for (int i = 0; i < 20_000; i++) {
            application.controller.service.report("SELECT sum(price) FROM sales WHERE day = " + i);
        }
        Service.ready();
    }
}
