package planted;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Sessions in two registries of two classes, neither of which is the main class. */
@Leak(first = {"objects: count 40000 planted.LoginSession", "holder: says SessionsById|SessionsByUser"},
        screen = {"one: static planted.SessionsById SESSIONS", "other: static planted.SessionsByUser SESSIONS"})
public final class TwoRegistries {
    private TwoRegistries() {}

    public static void main(String[] args) {
        Service.start();
        for (int i = 0; i < 40_000; i++) {
            LoginSession session = new LoginSession("session " + i);
            SessionsById.SESSIONS.put(session.id, session);
            SessionsByUser.SESSIONS.computeIfAbsent("user " + i % 1_000, user -> new ArrayList<>()).add(session);
        }
        Service.ready();
    }
}

final class SessionsById {
    static final Map<String, LoginSession> SESSIONS = new ConcurrentHashMap<>();

    private SessionsById() {}
}

final class SessionsByUser {
    static final Map<String, List<LoginSession>> SESSIONS = new HashMap<>();

    private SessionsByUser() {}
}

final class LoginSession {
    final String id;
    final Map<String, Object> attributes = new HashMap<>();

    LoginSession(String id) {
        this.id = id;
        for (int i = 0; i < 5; i++) {
            attributes.put("attribute " + i, new long[3]);
        }
    }
}
