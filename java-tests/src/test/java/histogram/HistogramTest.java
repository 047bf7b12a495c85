package histogram;

import static org.junit.jupiter.api.Assertions.assertEquals;

import harness.Beside;
import harness.Collector;
import harness.Folder;
import harness.Histogram;
import harness.Jvm;
import harness.Reach;
import harness.Rows;
import harness.Setup;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import lifecycle.Patient;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * In a quiet JVM the agent's dump holds what HotSpot's own dump and HotSpot's own histogram do, as far as it can be
 * reached: HotSpot also writes dead objects and such as only the VM itself holds, which no reader can show in place.
 */
class HistogramTest {
    /** By how much our counts may differ from HotSpot's, least and most; all other classes must be equal. */
    private static final Map<String, long[]> ALLOWED = Map.of(
            // The agent's thread that dumps, with its name and its locks.
            "java.lang.Thread", new long[] {0, 1},
            "java.lang.Thread$FieldHolder", new long[] {0, 1},
            "java.security.AccessControlContext", new long[] {0, 1},
            // Its lock; and on Java 8 one that GC.class_histogram counts and a dump right after it does not have.
            "java.lang.Object", new long[] {-1, 1},
            // The same, and constants of classes that are not linked yet, which JVMTI does not show. And the main class's name,
            // to which HotSpot's dump has no root: the launcher holds it.
            "java.lang.String", new long[] {-2, 2},
            "byte[]", new long[] {-2, 2},
            "char[]", new long[] {-2, 1},
            // Tables of constants of such classes; and on Java 8 the raw stack traces of exceptions made in advance.
            "java.lang.Object[]", new long[] {-9, 0},
            "short[]", new long[] {-8, 0});

    /** What the collector fills gaps with, and what never differs in meaning: class objects are records of their own. */
    private static final String[] NOT_COMPARED = {"java.lang.Class", "int[]", "jdk.internal.vm.FillerElement[]"};

    @TempDir Path folder;

    @ParameterizedTest
    @Beside
    @Rows("harness.Setup#matrix")
    void isHotspotsOwn(Setup setup) {
        // Without the archive of shared classes, whose part of the heap has dead objects and is never collected.
        try (Jvm jvm = Jvm.on(setup.jdk, folder).with(setup.collector).switches("-Xmx64m", "-Xshare:off")
                .agent("heap=dump,doe=n,file=" + folder.resolve("out.%n.hprof")).run(Patient.class).ready()) {
            // The first reading of each kind loads classes and makes objects; the second is compared.
            jvm.signal("QUIT");
            jvm.dumped(1);
            jvm.hotspotDump(folder.resolve("first.hprof"));
            classHistogram(jvm);

            jvm.signal("QUIT");
            jvm.dumped(2);
            Histogram counted = classHistogram(jvm);
            Reach theirs = new Reach(jvm.hotspotDump(folder.resolve("hotspot.hprof")));
            Reach ours = new Reach(new Folder(folder).await("out.2.hprof", Jvm.LIMIT));

            // Under ZGC of 11 HotSpot's own dumper writes ours, dead objects among the others.
            if (setup.collector != Collector.ZGC || setup.jdk.major >= 17) {
                assertEquals(Map.of(), new Histogram().to(ours.unreached()), "what cannot be reached in our dump");
            }
            assertEquals(Map.of(), unexpected(theirs.reached(), ours.reached()), "HotSpot's dump to ours");
            assertEquals(Map.of(), unexpected(counted.minus(theirs.unreached()), ours.reached()), "HotSpot's histogram to ours");
        }
    }

    private static Histogram classHistogram(Jvm jvm) {
        Histogram histogram = new Histogram();
        for (String line : jvm.jcmd("GC.class_histogram").good().out.split("\n")) {
            String[] words = line.trim().split("\\s+");
            if (words.length >= 4 && words[0].matches("\\d+:")) {
                histogram.add(words[3], Long.parseLong(words[1]));
            }
        }
        return histogram;
    }

    private static Map<String, Long> unexpected(Histogram hotspots, Histogram ours) {
        Map<String, Long> difference = new TreeMap<>(hotspots.to(ours));
        for (String name : NOT_COMPARED) {
            difference.remove(name);
        }
        difference.entrySet().removeIf(row -> ALLOWED.containsKey(row.getKey())
                && ALLOWED.get(row.getKey())[0] <= row.getValue() && row.getValue() <= ALLOWED.get(row.getKey())[1]);
        return difference;
    }
}
