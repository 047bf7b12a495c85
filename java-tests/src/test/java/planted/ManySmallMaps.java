package planted;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Sessions with small maps of their own in two registries of the main class, so that neither of the two keeps them alone. */
@Leak(first = {"objects: count 40000 planted.ManySmallMaps$Session", "holder: says BY_ID|BY_USER"},
        screen = {"one: static planted.ManySmallMaps BY_ID", "other: static planted.ManySmallMaps BY_USER"})
public final class ManySmallMaps {
    static final Map<String, Session> BY_ID = new ConcurrentHashMap<>();
    static final Map<String, List<Session>> BY_USER = new HashMap<>();

    static final class Session {
        final String id;
        final Map<String, Object> attributes = new HashMap<>();

        Session(String id) {
            this.id = id;
            for (int i = 0; i < 5; i++) {
                attributes.put("attribute " + i, new long[3]);
            }
        }
    }

    public static void main(String[] args) {
        Service.start();
        for (int i = 0; i < 40_000; i++) {
            Session session = new Session("session " + i);
            BY_ID.put(session.id, session);
            BY_USER.computeIfAbsent("user " + i % 1_000, user -> new ArrayList<>()).add(session);
        }
        Service.ready();
    }
}
