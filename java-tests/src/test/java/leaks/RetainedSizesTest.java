package leaks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.RetainedSizes;
import harness.Rows;
import harness.Tools;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import same.WebServer;

/** Retained sizes in the dump of a web server are those of another tool, object by object. */
class RetainedSizesTest {
    private static final int OBJECTS = 100_000;

    @TempDir Path folder;

    static List<Jdk> some() {
        return List.of(Jdks.of(17), Jdks.of(25));
    }

    /** By Eclipse MAT's rules (`--sizes mat`). With the JVM's own sizes, the comparison must see what differs. */
    @ParameterizedTest
    @Rows("some")
    @EnabledIfSystemProperty(named = "peers", matches = "all", disabledReason = "make peers-test builds hprof-analyzer")
    void areThoseOfHprofAnalyzer(Jdk jdk) {
        Path dump = dump(jdk);
        Map<Long, Long> sizes = RetainedSizes.ours(dump, "--sizes", "mat");
        assertTrue(sizes.size() > OBJECTS, sizes.size() + " objects");
        Map<Long, Long> theirs = RetainedSizes.ofHprofAnalyzer(dump);
        assertEquals(Map.of(), differences(sizes, theirs), "ours, theirs");
        assertTrue(!differences(RetainedSizes.ours(dump), theirs).isEmpty(), "the JVM's own sizes are others");
    }

    /** Both sizes of each object for which they are not equal. */
    private static Map<String, List<Long>> differences(Map<Long, Long> some, Map<Long, Long> others) {
        Map<String, List<Long>> differences = new TreeMap<>();
        for (Map<Long, Long> all : List.of(some, others)) {
            for (long id : all.keySet()) {
                List<Long> both = List.of(some.getOrDefault(id, -1L), others.getOrDefault(id, -1L));
                if (!both.get(0).equals(both.get(1))) {
                    differences.put("0x" + Long.toHexString(id), both);
                }
            }
        }
        return differences;
    }

    /** Of a web server: a hundred thousand objects and more. */
    private Path dump(Jdk jdk) {
        Path dump = folder.resolve("server.hprof");
        Launch launch = Jvm.on(jdk, folder).dumpTo(dump);
        Tools.jars().forEach(launch::classPath);
        try (Jvm jvm = launch.run(WebServer.class).ready()) {
            jvm.signal("QUIT");
            jvm.dumped(1);
        }
        return dump;
    }
}
