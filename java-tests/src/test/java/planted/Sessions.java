package planted;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/** Sessions of a web server and of a mapper of objects to tables. */
final class Sessions {
    private Sessions() {}

    /** Of a web server: its manager is known to the thread that ends old sessions, and to each session. */
    static final class SessionManager implements Runnable {
        final Map<String, HttpSession> sessions = new ConcurrentHashMap<>();

        HttpSession create(String id) {
            return sessions.computeIfAbsent(id, key -> new HttpSession(key, this));
        }

        @Override
        public void run() {
            Service.waitForEver();
            sessions.clear();
        }
    }

    static final class HttpSession {
        final String id;
        final SessionManager manager;
        final Map<String, Object> attributes = new ConcurrentHashMap<>();

        HttpSession(String id, SessionManager manager) {
            this.id = id;
            this.manager = manager;
        }
    }

    static final class ShoppingCart {
        final List<String> articles = new ArrayList<>();
        final byte[] token = new byte[300];

        ShoppingCart(int number) {
            articles.add("article " + number);
        }
    }

    @Leak(first = {"holder: says SessionManager|session-expirer", "field: says \\bsessions\\b",
            "objects: count 30000 planted.Sessions$HttpSession planted.Sessions$ShoppingCart"},
            screen = {"content: count 30000 planted.Sessions$ShoppingCart"})
    public static final class OfServer {
        public static void main(String[] args) {
            Service.start();
            SessionManager manager = new SessionManager();
            for (int i = 0; i < 30_000; i++) {
                manager.create("session-" + i).attributes.put("cart", new ShoppingCart(i));
            }
            Service.daemon(manager, "session-expirer").start();
            Service.ready();
        }
    }

    /** What a mapper remembers of each row that it has read, until the session is cleared. */
    static final class PersistenceContext {
        final Map<EntityKey, Object> entitiesByKey = new HashMap<>();
        final Map<Object, EntityEntry> entries = new IdentityHashMap<>();

        void add(Customer customer) {
            EntityKey key = new EntityKey("Customer", customer.id);
            entitiesByKey.put(key, customer);
            entries.put(customer, new EntityEntry(key, new Object[] {customer.id, customer.name}));
        }
    }

    static final class EntityKey {
        final String entity;
        final long id;

        EntityKey(String entity, long id) {
            this.entity = entity;
            this.id = id;
        }

        @Override
        public int hashCode() {
            return Long.hashCode(id);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof EntityKey && ((EntityKey) other).id == id && ((EntityKey) other).entity.equals(entity);
        }
    }

    static final class EntityEntry {
        final EntityKey key;
        final Object[] loadedState;

        EntityEntry(EntityKey key, Object[] loadedState) {
            this.key = key;
            this.loadedState = loadedState;
        }
    }

    static final class Customer {
        final long id;
        final String name;
        final byte[] address = new byte[150];

        Customer(long id) {
            this.id = id;
            name = "customer " + id;
        }
    }

    static final class Session {
        final PersistenceContext context = new PersistenceContext();
    }

    /** A nightly job that reads all rows in one session, which only its frame has. */
    @Leak(first = {"thread: thread nightly-job", "frame: says FirstLevelCache\\.importAll",
            "objects: count 50000 planted.Sessions$Customer"},
            screen = {"line: line Sessions.java the job waits here", "session: says PersistenceContext"})
    public static final class FirstLevelCache {
        public static void main(String[] args) {
            Service.start();
            CountDownLatch read = new CountDownLatch(1);
            Service.daemon(() -> importAll(read), "nightly-job").start();
            Service.await(read);
            Service.ready();
        }

        private static int importAll(CountDownLatch read) {
            Session session = new Session();
            for (int i = 0; i < 50_000; i++) {
                session.context.add(new Customer(i));
            }
            commit(read); // the job waits here
            return session.context.entries.size();
        }

        private static void commit(CountDownLatch read) {
            read.countDown();
            Service.waitForEver();
        }
    }
}
