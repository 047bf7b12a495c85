package leaks;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import subject.Say;

/**
 * Leaks sessions in the way that the argument names: a static map, a thread local, a class loader that a thread keeps,
 * listeners. Each further word names the next way; what leaked before is let go of.
 */
public class Leaks {
    public static final int SESSIONS = 3_000;
    static final Map<Integer, Session> CACHE = new HashMap<>();
    static final Bus BUS = new Bus();
    static final ThreadLocal<List<Session>> LOCAL = new ThreadLocal<>();

    static class Session {
        final byte[] data;

        Session() {
            data = new byte[1_000]; // the line that the answer must name
        }
    }

    interface Listener {}

    static class Bus {
        final List<Listener> listeners = new ArrayList<>();
    }

    static class View implements Listener {
        final Session session = new Session();
    }

    /** Is loaded by a loader of its own, too. */
    public static class Plugin implements Runnable {
        static final List<Session> HELD = new ArrayList<>();

        @Override
        public void run() {
            for (int i = 0; i < SESSIONS; i++) {
                HELD.add(new Session());
            }
        }
    }

    /** Loads the classes of this file anew. */
    static class Loader extends URLClassLoader {
        Loader(URL[] urls) {
            super(urls, null);
        }
    }

    public static void main(String[] args) throws Exception {
        for (String way = args[0]; !"exit".equals(way); way = next(plant(way))) {}
    }

    /** Leaks in this way, and gives the thread that keeps the sessions, or null. */
    private static Thread plant(String way) throws Exception {
        switch (way) {
            case "static":
                for (int i = 0; i < SESSIONS; i++) {
                    CACHE.put(i, new Session());
                }
                return null;
            case "local":
                return start("worker", null, Leaks::fillLocal);
            case "loader":
                return plug();
            default:
                for (int i = 0; i < SESSIONS; i++) {
                    BUS.listeners.add(new View());
                }
                return null;
        }
    }

    /** Hears the next word, and lets go of what leaked unless it is the last one. */
    private static String next(Thread keeper) throws InterruptedException {
        String word = Say.ready();
        if ("exit".equals(word)) {
            return word;
        }
        CACHE.clear();
        BUS.listeners.clear();
        if (keeper != null) {
            keeper.interrupt();
            keeper.join();
        }
        return word;
    }

    private static void fillLocal() {
        List<Session> sessions = new ArrayList<>();
        for (int i = 0; i < SESSIONS; i++) {
            sessions.add(new Session());
        }
        LOCAL.set(sessions);
    }

    private static Thread plug() throws Exception {
        URL[] here = {Leaks.class.getProtectionDomain().getCodeSource().getLocation()};
        Loader loader = new Loader(here);
        ((Runnable) loader.loadClass("leaks.Leaks$Plugin").getConstructor().newInstance()).run();
        return start("plugin-runner", loader, () -> {});
    }

    /** Starts a thread that works and then waits until it is interrupted. */
    private static Thread start(String name, ClassLoader loader, Runnable work) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        Thread thread = new Thread(() -> {
            work.run();
            done.countDown();
            synchronized (done) {
                while (true) {
                    try {
                        done.wait();
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            }
        }, name);
        thread.setContextClassLoader(loader);
        thread.setDaemon(true);
        thread.start();
        done.await();
        return thread;
    }
}
