package sites;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import subject.Definer;
import subject.FirstSample;
import subject.Say;

/**
 * A class makes arrays that live on, and is unloaded. Then two threads make arrays at one place. Runs on Java 8.
 *
 * <pre>
 * Unloaded gone         it does not come again
 * Unloaded reloaded     another class of its name comes
 * </pre>
 */
public final class Unloaded {
    static final int ARRAYS = 100;
    private static final int MOST_COLLECTIONS = 100;
    private static final List<Object> KEPT = new ArrayList<>();

    private Unloaded() {}

    public static void main(String[] args) throws Exception {
        FirstSample.pass();
        WeakReference<Class<?>> type = new WeakReference<>(makeAndDrop());
        for (int i = 0; type.get() != null; i++) {
            if (i == MOST_COLLECTIONS) {
                throw new IllegalStateException("the class is still there");
            }
            System.gc();
        }
        if (args[0].equals("reloaded")) {
            KEPT.add(maker());
        }
        for (String name : new String[] {"one", "two"}) {
            Thread thread = new Thread(Unloaded::longs, name);
            thread.start();
            thread.join();
        }
        Say.ready();
    }

    private static Runnable maker() throws ReflectiveOperationException {
        return (Runnable) new Definer().define(Successors.named('Q')).getConstructor().newInstance();
    }

    private static Class<?> makeAndDrop() throws ReflectiveOperationException {
        Runnable maker = maker();
        for (int i = 0; i < ARRAYS; i++) {
            maker.run();
            KEPT.add(Successors.sink);
        }
        return maker.getClass();
    }

    private static void longs() {
        for (int i = 0; i < ARRAYS; i++) {
            long[] made = new long[5];
            synchronized (KEPT) {
                KEPT.add(made);
            }
        }
    }
}
