// report  spring-projects/spring-security#15036
// leaks   org.springframework.security:spring-security-core:5.7.11
// mended  use: end the session
// java    17
// class   org.springframework.security.core.session.SessionInformation leaks.SpringSecurity15036$Account
// number  30000
// holder  SessionRegistryImpl\b|sessionIds|principals|REGISTRY\b
// reason  (?i)\bequal|same (key|name)|no equals|differ only in|(not|never) (ended|removed|expired)
// change  give the principal equals and hashCode, and publish the end of sessions
package leaks;

import org.springframework.security.core.session.SessionRegistryImpl;

/** One account that logs in again and again; its class has no equals. */
public final class SpringSecurity15036 {
    static final SessionRegistryImpl REGISTRY = new SessionRegistryImpl();

    static final class Account {
        final String name = "shop-robot";
        final long[] rights = new long[10];
    }

    public static void main(String[] args) {
        for (int i = 0; i < 30_000; i++) {
            String session = "session-" + i;
            REGISTRY.registerNewSession(session, new Account());
            if (args.length > 0) {
                REGISTRY.removeSessionInformation(session);
            }
        }
    }
}
