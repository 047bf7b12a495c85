package planted;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import subject.Say;

/** What each program has besides its leak, as a service has it: a few megabytes of caches, texts, threads, none of them growing. */
public final class Service {
    private static final int PRODUCTS = 6_000;
    private static final int WORKERS = 4;
    private static Service running;

    private final Map<String, Product> catalogue = new ConcurrentHashMap<>();
    private final Map<String, byte[]> pages = new Pages();
    private final Deque<String> recentLines = new ArrayDeque<>();
    private final Properties settings = new Properties();
    private final ThreadLocal<StringBuilder> texts = ThreadLocal.withInitial(() -> new StringBuilder(4_096));
    private final ExecutorService workers = Executors.newFixedThreadPool(WORKERS, work -> daemon(work, "worker"));
    private final ScheduledExecutorService clock = Executors.newScheduledThreadPool(1, work -> daemon(work, "clock"));

    private static final class Product {
        final String name;
        final List<String> tags = new ArrayList<>();
        final long price;

        Product(int number) {
            name = "product number " + number;
            price = number * 100L;
            tags.add("tag " + number % 50);
        }
    }

    /** The pages asked for last. */
    private static final class Pages extends LinkedHashMap<String, byte[]> {
        private static final int MOST = 100;

        Pages() {
            super(16, 0.75f, true);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, byte[]> eldest) {
            return size() > MOST;
        }
    }

    private Service() {}

    /** Starts what a service has; its workers have worked when this returns. */
    public static void start() {
        Service service = new Service();
        running = service;
        service.fill();
        service.work();
    }

    private void fill() {
        for (int i = 0; i < PRODUCTS; i++) {
            Product product = new Product(i);
            catalogue.put("sku-" + i, product);
            pages.put("/products/" + i, new byte[8_000]);
            recentLines.addLast("GET /products/" + i + " 200");
            if (recentLines.size() > 1_000) {
                recentLines.removeFirst();
            }
        }
        for (int i = 0; i < 300; i++) {
            settings.setProperty("service.setting." + i, "value " + i);
        }
    }

    private void work() {
        CountDownLatch worked = new CountDownLatch(WORKERS);
        for (int i = 0; i < WORKERS; i++) {
            workers.execute(() -> {
                texts.get().append("worked");
                worked.countDown();
                await(worked);
            });
        }
        await(worked);
        clock.scheduleAtFixedRate(recentLines::size, 1, 1, TimeUnit.HOURS);
    }

    /** Starts, leaks so often, and is ready. */
    public static void fill(int times, IntConsumer leak) {
        start();
        for (int i = 0; i < times; i++) {
            leak.accept(i);
        }
        ready();
    }

    /** Says that all is there to be looked at, and waits until it has been. */
    public static void ready() {
        Say.ready();
        System.exit(running.catalogue.isEmpty() ? 1 : 0);
    }

    /** Starts a thread that does this work and waits for ever after, and returns when it has worked. */
    public static Thread thread(String name, Runnable work) {
        CountDownLatch worked = new CountDownLatch(1);
        Thread thread = daemon(() -> {
            work.run();
            worked.countDown();
            waitForEver();
        }, name);
        thread.start();
        await(worked);
        return thread;
    }

    /** A daemon thread of this name, not started. */
    public static Thread daemon(Runnable work, String name) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }

    /** Waits for what nobody does. */
    public static void waitForEver() {
        await(new CountDownLatch(1));
    }

    public static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
