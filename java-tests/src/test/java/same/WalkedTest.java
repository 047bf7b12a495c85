package same;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Attach;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.Tools;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What JVMTI's walk writes of an application is what a fork writes, which {@link SameAsHotSpotTest} compares with
 * HotSpot's own dump, but for what rules explain.
 */
class WalkedTest {
    /** The application has so many times the classes of the small program that the rules' bounds are for. */
    private static final int TIMES = 12;

    @TempDir Path folder;

    @ParameterizedTest
    @ValueSource(ints = {17, 21, 25})
    void isTheSameOfAnApplication(int major) throws Exception {
        Path forked = folder.resolve("forked.hprof");
        Path walked = folder.resolve("walked.hprof");
        Launch launch = Jvm.on(Jdks.of(major), folder).switches("-Xmx512m");
        Tools.jars().forEach(launch::classPath);
        try (Jvm jvm = launch.run(WebServer.class).ready()) {
            dump(jvm, 1, "engine=snapshot,snapshot=fork", forked);
            dump(jvm, 2, "engine=portable", walked);
            SameAsHotSpotTest.mustHaveBeenQuiet(jvm);
        }
        EngineComparison comparison = EngineComparison.of(forked, walked, TIMES);
        String report = "Java " + major + ": " + comparison;
        Files.writeString(Tools.report("engines", "web_server_" + major + ".txt"), report);
        assertEquals(0, comparison.differences(), report);
        assertTrue(comparison.compared() > 100_000, report);
    }

    private static void dump(Jvm jvm, int number, String engine, Path file) throws Exception {
        Attach.dump(jvm, number, engine + ",file=" + file);
    }
}
