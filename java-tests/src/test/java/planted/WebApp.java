package planted;

import java.lang.management.ManagementFactory;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Timer;
import java.util.TimerTask;
import java.util.logging.Logger;
import javax.management.ObjectName;

/** An application that a container deploys: each deployment has this class anew, with its documents. */
public final class WebApp {
    static final List<Document> DOCUMENTS = new ArrayList<>();
    static final ThreadLocal<Context> CONTEXT = new ThreadLocal<>();

    static final class Document {
        final byte[] text = new byte[1_000];
    }

    static final class Context {
        final String user = "guest";
    }

    /** What a bean needs. */
    public interface StatisticsMBean {
        int getDocuments();
    }

    static final class Statistics implements StatisticsMBean {
        @Override
        public int getDocuments() {
            return DOCUMENTS.size();
        }
    }

    static final class Cleaner implements Runnable {
        @Override
        public void run() {
            Service.waitForEver();
            DOCUMENTS.clear();
        }
    }

    static final class Reminder extends TimerTask {
        @Override
        public void run() {
            DOCUMENTS.clear();
        }
    }

    static final class Database implements Driver {
        @Override
        public Connection connect(String url, Properties properties) {
            return null;
        }

        @Override
        public boolean acceptsURL(String url) {
            return false;
        }

        @Override
        public DriverPropertyInfo[] getPropertyInfo(String url, Properties properties) {
            return new DriverPropertyInfo[0];
        }

        @Override
        public int getMajorVersion() {
            return 1;
        }

        @Override
        public int getMinorVersion() {
            return 0;
        }

        @Override
        public boolean jdbcCompliant() {
            return false;
        }

        @Override
        public Logger getParentLogger() {
            return null;
        }
    }

    private WebApp() {}

    /** Starts a deployment, which leaves behind what the argument names. */
    public static void start(String leftover, int deployment) throws Exception {
        // The last one has just begun.
        int documents = deployment == Loaders.DEPLOYMENTS - 1 ? 1_500 : 3_000;
        for (int i = 0; i < documents; i++) {
            DOCUMENTS.add(new Document());
        }
        switch (leftover) {
            case "thread":
                Service.daemon(new Cleaner(), "webapp-cleaner").start();
                break;
            case "local":
                CONTEXT.set(new Context());
                break;
            case "driver":
                DriverManager.registerDriver(new Database());
                break;
            case "hook":
                Runtime.getRuntime().addShutdownHook(new Thread(() -> DOCUMENTS.clear(), "webapp-stop"));
                break;
            case "timer":
                new Timer("webapp-reminder", true).schedule(new Reminder(), 100_000_000);
                break;
            default:
                ManagementFactory.getPlatformMBeanServer()
                        .registerMBean(new Statistics(), new ObjectName("webapp:type=Statistics,deployment=" + deployment));
        }
    }
}
