package roots;

import java.util.ArrayList;
import java.util.List;

/** All places of a program: in each a token is held in its own way while a thread has stopped or runs. */
public final class Places {
    /** What has a token of the place with this number, and stops with it. */
    public interface Body {
        void hold(int place, Stop stop) throws Throwable;
    }

    /** How a body is run. */
    interface Runner {
        void run(Runnable body);
    }

    private static final class Place {
        final String name;
        final Body body;
        final Stop stop;
        final Runner runner;

        Place(String name, Body body, Stop stop, Runner runner) {
            this.name = name;
            this.body = body;
            this.stop = stop;
            this.runner = runner;
        }
    }

    /** Enough for the compiler with the best code. */
    private static final int WARM = 12_000;

    /** Nothing else leads to a virtual thread that waits. */
    private static final List<Object> THREADS = new ArrayList<>();

    private final List<Place> places = new ArrayList<>();
    /** What is run many times without a stop first, so that it is compiled. */
    private final List<Body> warm = new ArrayList<>();
    /** What happens when all have stopped. */
    private final List<Runnable> afterwards = new ArrayList<>();
    private final Runner virtual;

    Places() {
        virtual = virtual();
    }

    /** Whether the JVM has virtual threads. */
    boolean haveVirtual() {
        return virtual != null;
    }

    /** In a thread of its own. */
    void add(String name, Body body, Stop.Way way) {
        add(name, body, way, Places::thread);
    }

    /** The same in a virtual thread, where there are some. */
    void addVirtual(String name, Body body, Stop.Way way) {
        if (haveVirtual()) {
            add(name, body, way, virtual);
        }
    }

    void add(String name, Body body, Stop.Way way, Runner runner) {
        places.add(new Place(name, body, new Stop(way), runner));
    }

    /** This body is compiled before it stops. */
    void warm(Body body) {
        warm.add(body);
    }

    /** This happens when all have stopped. */
    void afterwards(Runnable action) {
        afterwards.add(action);
    }

    /** Has the bodies compiled. */
    void warmUp() throws Throwable {
        for (int i = 0; i < WARM; i++) {
            for (Body body : warm) {
                body.hold(-1, Stop.NEVER);
            }
        }
    }

    /** Runs all bodies, and waits until each has stopped. */
    void start() {
        for (int i = 0; i < places.size(); i++) {
            Place place = places.get(i);
            int number = i;
            place.runner.run(() -> run(place, number));
        }
        for (Place place : places) {
            long start = System.nanoTime();
            while (!place.stop.hasStopped()) {
                Thread.yield();
                if (System.nanoTime() - start > 60_000_000_000L) {
                    throw new IllegalStateException(place.name + ": " + place.stop);
                }
            }
        }
        afterwards.forEach(Runnable::run);
    }

    List<String> names() {
        List<String> names = new ArrayList<>();
        places.forEach(place -> names.add(place.name));
        return names;
    }

    private static void run(Place place, int number) {
        try {
            place.body.hold(number, place.stop);
        } catch (Throwable e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(3);
        }
    }

    static void thread(Runnable body) {
        Thread thread = new Thread(body);
        thread.setDaemon(true);
        thread.start();
    }

    private static Runner virtual() {
        try {
            java.lang.reflect.Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            return body -> {
                try {
                    THREADS.add(start.invoke(null, body));
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(e);
                }
            };
        } catch (NoSuchMethodException e) {
            return null;
        }
    }
}
