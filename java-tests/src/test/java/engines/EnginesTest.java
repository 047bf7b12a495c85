package engines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Attach;
import harness.Collector;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Setup;
import harness.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import readers.Few;
import same.EngineComparison;
import same.Quiet;

/**
 * All engines write the same of one quiet JVM: object by object, though under other ids. What was compared, and what
 * rules let pass, is in target/engines/. `-Dsetup='25.0.3 G1'` takes only the setups with these words.
 */
class EnginesTest {
    /** So that no collection comes of itself between two dumps. */
    private static final String[] QUIET_ZGC = {"-Xmx512m", "-XX:-ZProactive"};
    private static final String[] QUIET_SHENANDOAH = {"-Xmx512m", "-XX:ShenandoahGuaranteedGCInterval=0"};

    /** What the subject of changes is told, and what the comparison must say then. */
    private static final Map<String, String> CHANGES = new TreeMap<>(Map.of(
            "f", "engines.Changing$Cell, value: 1 and 2",
            "e", "long[], 2: 3 and 4",
            "s", "class engines.Changing, count: 7 and 8",
            "i", "are not the same, in",
            "c", "class engines.Changing$LikeCell are not the same"));

    @TempDir Path folder;

    static Stream<Setup> setups() {
        List<Setup> setups = new ArrayList<>();
        for (Jdk jdk : Jdks.majors()) {
            // Java 8 reports constants of compiled methods as roots under this collector: none are compiled.
            setups.add(jdk.major == 8 ? Setup.of(jdk, Collector.PARALLEL, "-Xmx512m", "-Xint")
                    : Setup.of(jdk, Collector.G1, "-Xmx512m"));
            if (jdk.major >= 17 && jdk.collectors().contains(Collector.ZGC)) {
                setups.add(Setup.of(jdk, Collector.ZGC, QUIET_ZGC));
            }
            if (jdk.collectors().contains(Collector.SHENANDOAH)) {
                setups.add(Setup.of(jdk, Collector.SHENANDOAH, QUIET_SHENANDOAH));
            }
        }
        // Other collectors, and other layouts of objects.
        setups.add(Setup.of(Jdks.of(17), Collector.SERIAL, "-Xmx512m", "-XX:-UseCompressedOops"));
        setups.add(Setup.of(Jdks.of(25), Collector.PARALLEL, "-Xmx512m", "-XX:+UseCompactObjectHeaders"));
        return setups.stream().filter(setup -> setup.toString().contains(System.getProperty("setup", "")));
    }

    @ParameterizedTest
    @MethodSource("setups")
    void giveEqualDumps(Setup setup) throws Exception {
        Path auto = folder.resolve("auto.hprof");
        Path pause = folder.resolve("pause.hprof");
        Path portable = folder.resolve("portable.hprof");
        boolean isForked;
        try (Jvm jvm = setup.on(folder).run(Quiet.class).ready()) {
            String end = dump(jvm, 1, auto, "engine=auto");
            isForked = !end.contains("in the pause");
            assertTrue(end.contains("engine snapshot"), end);
            assertEquals(setup.collector == Collector.ZGC, end.contains("in the pause, as the collector maps the heap"), end);
            end = dump(jvm, 2, portable, "engine=portable");
            assertTrue(end.contains("engine portable"), end);
            if (isForked) {
                end = dump(jvm, 3, pause, "engine=snapshot,snapshot=pause");
                assertTrue(end.contains("engine snapshot in the pause"), end);
            }
            mustHaveBeenQuiet(jvm);
        }
        mustBeEqual(setup, auto, portable, isForked);
        if (isForked) {
            mustBeEqual(setup, portable, pause, false);
        }
    }

    static Stream<Jdk> withEpsilon() {
        return Jdks.majors().stream().filter(jdk -> jdk.major >= 11);
    }

    /**
     * The copy is not read where nothing is: here the heap ends right behind its last objects, a class of the JDK among
     * them, whatever the calibration guesses. Other collectors end there by chance: G1 in a program that did little.
     */
    @ParameterizedTest
    @MethodSource("withEpsilon")
    void theHeapMayEndBehindItsLastObject(Jdk jdk) {
        try (Jvm jvm = Jvm.on(jdk, folder).dumpTo(folder.resolve("exit.hprof"))
                .switches("-Xms1m", "-Xmx256m", "-XX:+UseEpsilonGC", "-XX:EpsilonMinHeapExpand=64k", "-XX:-UseTLAB")
                .run(Few.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(jvm.dumped(1).endsWith("engine snapshot"), jvm.err::text);
        }
    }

    /** JVMTI tells a walk less than a fork reads; what that is, the rules know. Between walks they have nothing to say. */
    private static void mustBeEqual(Setup setup, Path one, Path other, boolean isForked) throws IOException {
        EngineComparison comparison = EngineComparison.of(one, other);
        String report = setup + ", " + one.getFileName() + " and " + other.getFileName() + ": " + comparison;
        Files.writeString(Tools.report("engines", report.replaceAll("(?s): .*", "").replaceAll("[^\\w.+-]+", "_") + ".txt"), report);
        assertEquals(0, comparison.differences(), report);
        assertEquals(isForked, comparison.allowedToForks() > 0, report);
        assertTrue(comparison.compared() > 100_000, report);
    }

    /** The comparison on trial: it sees what changes between two dumps. */
    @Test
    void changesAreSeen() throws Exception {
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).switches("-Xmx64m").run(Changing.class).ready()) {
            Path before = folder.resolve("0.hprof");
            dump(jvm, 1, before, "engine=portable");
            int number = 1;
            for (Map.Entry<String, String> change : CHANGES.entrySet()) {
                jvm.say(change.getKey()).out.await("CHANGED " + change.getKey(), Jvm.LIMIT);
                Path after = folder.resolve(number + ".hprof");
                dump(jvm, ++number, after, "engine=portable");
                EngineComparison comparison = EngineComparison.of(before, after);
                assertTrue(comparison.differences() > 0 && comparison.toString().contains(change.getValue()),
                        () -> change + ": " + comparison);
                before = after;
            }
        }
    }

    private static String dump(Jvm jvm, int number, Path file, String options) throws Exception {
        return Attach.dump(jvm, number, options + ",file=" + file);
    }

    /** The subject counted collections before it said it is ready; now it counts again. */
    private static void mustHaveBeenQuiet(Jvm jvm) {
        String before = collections(jvm, 2);
        String after = collections(jvm.say("collections"), 3);
        assertEquals(before, after, "a collection between the dumps: they cannot be compared");
    }

    private static String collections(Jvm jvm, int count) {
        return jvm.out.await(count, "a number of collections", line -> line.startsWith("COLLECTIONS"), Jvm.LIMIT);
    }
}
