package shop;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import hprofrs.junit.NoLeak;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/** {@code @NoLeak} fails what leaks, and nothing else. */
class NoLeakTest {
    @AfterAll
    static void forget() {
        Shop.UNPAID.clear();
    }

    @Test
    @NoLeak(Session.class)
    void whatIsPaidIsForgotten() {
        Shop.visit(true);
    }

    @Test
    void aTestThatLeaksFails() {
        Events tests = EngineTestKit.engine("junit-jupiter").selectors(selectClass(Leaky.class)).execute().testEvents();
        tests.assertStatistics(count -> count.succeeded(1).failed(1));
        tests.failed().stream().forEach(event -> {
            String name = event.getTestDescriptor().getDisplayName();
            if (!name.startsWith("leaks")) {
                throw new AssertionError(name + " failed");
            }
            String message = event.getRequiredPayload(TestExecutionResult.class).getThrowable().get().getMessage();
            assertTrue(message.matches("(?s)shop.Session: expected at most \\d+, as before the test, but .*"), message);
        });
    }

    /** Not found by Surefire, which searches for names with Test. */
    @NoLeak({Session.class, Shop.class})
    static class Leaky {
        @Test
        void leaks() {
            Shop.visit(false);
        }

        @Test
        void doesNotLeak() {
            Shop.visit(true);
        }
    }
}
