// uses     com.google.guava:guava:31.1-jre
// java     11
// largest  (?i)cache|Session\b|SESSIONS
package healthy;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;

/** Sessions that end by themselves, at the most that may be open. */
public final class GuavaAtBound {
    static final Cache<String, Session> SESSIONS =
            CacheBuilder.newBuilder().maximumSize(5_000).expireAfterAccess(1, java.util.concurrent.TimeUnit.HOURS).build();

    static final class Session {
        final char[] basket = new char[1500];
    }

    public static void main(String[] args) {
        for (int i = 0; i < 20_000; i++) {
            SESSIONS.put("session-" + i, new Session());
        }
    }
}
