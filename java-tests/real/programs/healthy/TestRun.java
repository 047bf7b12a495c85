// uses     org.junit.jupiter:junit-jupiter:5.9.3 org.junit.platform:junit-platform-launcher:1.9.3
// java     17
// largest  .
package healthy;

import org.junit.jupiter.api.RepeatedTest;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** A long run of tests that has ended. */
public final class TestRun {
    public static class Sums {
        @RepeatedTest(5000)
        void add() {
            org.junit.jupiter.api.Assertions.assertEquals(4, 2 + 2);
        }
    }

    public static void main(String[] args) {
        Launcher launcher = LauncherFactory.create();
        launcher.execute(LauncherDiscoveryRequestBuilder.request().selectors(DiscoverySelectors.selectClass(Sums.class)).build());
    }
}
