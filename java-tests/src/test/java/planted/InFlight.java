package planted;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/** A static cache that a request happens to read: the field is the culprit, not the request's frame. */
@Leak(first = {"holder: static planted.InFlight$SessionManager INSTANCE", "objects: count 20000 planted.InFlight$Session"},
        screen = {"field: says \\bsessions\\b"})
public final class InFlight {
    static final class SessionManager {
        static final SessionManager INSTANCE = new SessionManager();

        final Map<String, Session> sessions = new ConcurrentHashMap<>();
    }

    static final class Session {
        final byte[] state = new byte[1_500];
    }

    private InFlight() {}

    public static void main(String[] args) {
        Service.start();
        for (int i = 0; i < 20_000; i++) {
            SessionManager.INSTANCE.sessions.put("session " + i, new Session());
        }
        CountDownLatch reads = new CountDownLatch(1);
        Service.daemon(() -> handle(SessionManager.INSTANCE.sessions, reads), "http-request-7").start();
        Service.await(reads);
        Service.ready();
    }

    /** Has the map in a local variable while it waits. */
    private static int handle(Map<String, Session> sessions, CountDownLatch reads) {
        reads.countDown();
        Service.waitForEver();
        return sessions.size();
    }
}
