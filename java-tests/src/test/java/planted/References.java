package planted;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CountDownLatch;

/** What references and those who serve them keep. */
final class References {
    private References() {}

    /** Collects until all cleared references are in their queues. The first may come before others, the second comes after those. */
    private static void awaitCollector() throws InterruptedException {
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        for (int round = 0; round < 2; round++) {
            WeakReference<Object> last = new WeakReference<>(new Object(), queue);
            System.gc();
            while (queue.remove() != last) {
                System.gc();
            }
        }
    }

    /** Has to be finalized, and the first one takes for ever. */
    static final class Statement {
        static final CountDownLatch FINALIZING = new CountDownLatch(1);

        final byte[] result = new byte[1_200];

        @Override
        @SuppressWarnings({"deprecation", "removal"})
        protected void finalize() {
            FINALIZING.countDown();
            Service.waitForEver();
        }
    }

    @Leak(first = {"finalizer: says (?i)finaliz", "objects: count 20000 planted.References$Statement"},
            screen = {"frame: says References\\$Statement\\.finalize"})
    public static final class Finalizers {
        public static void main(String[] args) throws InterruptedException {
            Service.start();
            for (int i = 0; i < 20_000; i++) {
                new Statement();
            }
            System.gc();
            Service.await(Statement.FINALIZING);
            awaitCollector();
            Service.ready();
        }
    }

    /** What frees a texture that nobody has any more; the first one takes for ever. */
    static final class Freeing implements Runnable {
        static final CountDownLatch FREES = new CountDownLatch(1);

        final byte[] pixels = new byte[1_200];

        @Override
        public void run() {
            FREES.countDown();
            Service.waitForEver();
        }
    }

    @Leak(since = 11, first = {"cleaner: says (?i)cleaner", "objects: count 20000 planted.References$Freeing"},
            screen = {"frame: says References\\$Freeing\\.run"})
    public static final class Cleaners {
        static Object cleaner;

        public static void main(String[] args) throws ReflectiveOperationException, InterruptedException {
            Service.start();
            // java.lang.ref.Cleaner, which Java 8 has not.
            Class<?> type = Class.forName("java.lang.ref.Cleaner");
            cleaner = type.getMethod("create").invoke(null);
            Method register = type.getMethod("register", Object.class, Runnable.class);
            for (int i = 0; i < 20_000; i++) {
                register.invoke(cleaner, new Object(), new Freeing());
            }
            System.gc();
            Service.await(Freeing.FREES);
            awaitCollector();
            Service.ready();
        }
    }

    static final class Tile {
        final byte[] picture = new byte[10_000];
    }

    static final class Visit {
        final String address;

        Visit(String address) {
            this.address = address;
        }
    }

    /** A cache that the collector may empty hides a leak of a third of its size. */
    @Leak(first = {"holder: static planted.References$SoftCache VISITS", "objects: count 80000 planted.References$Visit"},
            screen = {"soft: bytes 30500000 (?i)soft"})
    public static final class SoftCache {
        static final Map<Integer, SoftReference<Tile>> TILES = new HashMap<>();
        static final List<Visit> VISITS = new ArrayList<>();

        public static void main(String[] args) {
            Service.start();
            for (int i = 0; i < 3_000; i++) {
                TILES.put(i, new SoftReference<>(new Tile()));
            }
            for (int i = 0; i < 80_000; i++) {
                VISITS.add(new Visit("192.168.0." + i));
            }
            Service.ready();
        }
    }

    static final class User {
        final byte[] portrait = new byte[1_000];
    }

    /** Refers to the key under which it stands. */
    static final class Rights {
        final User user;

        Rights(User user) {
            this.user = user;
        }
    }

    @Leak(first = {"holder: static planted.References$WeakKeys RIGHTS", "map: says WeakHashMap(?!\\$)",
            "objects: count 25000 planted.References$Rights planted.References$User"},
            screen = {"cause: says (?i)value[^\\n]{0,40}key|Rights[^\\n]{0,80}\\buser\\b"})
    public static final class WeakKeys {
        static final Map<User, Rights> RIGHTS = new WeakHashMap<>();

        public static void main(String[] args) {
            Service.start();
            for (int i = 0; i < 25_000; i++) {
                User user = new User();
                RIGHTS.put(user, new Rights(user));
            }
            Service.ready();
        }
    }

    /** What is to be done when a handle is gone. */
    static final class HandleReference extends PhantomReference<Object> {
        final byte[] state = new byte[800];

        HandleReference(Object handle, ReferenceQueue<Object> queue) {
            super(handle, queue);
        }
    }

    /** Nobody takes references from the queue, so the set keeps them. */
    @Leak(first = {"holder: static planted.References$Undrained OPEN", "objects: count 30000 planted.References$HandleReference"},
            screen = {"collection: says HashSet|HashMap"})
    public static final class Undrained {
        static final ReferenceQueue<Object> GONE = new ReferenceQueue<>();
        static final Set<HandleReference> OPEN = new HashSet<>();

        public static void main(String[] args) throws InterruptedException {
            Service.start();
            for (int i = 0; i < 30_000; i++) {
                OPEN.add(new HandleReference(new Object(), GONE));
            }
            awaitCollector();
            Service.ready();
        }
    }
}
