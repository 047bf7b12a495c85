package same;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static same.Comparison.Order.HOTSPOT_FIRST;
import static same.Comparison.Order.OURS_FIRST;

import harness.Collector;
import harness.Command;
import harness.EachJdk;
import harness.Javac;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.OnlyInTestAll;
import harness.Rows;
import harness.Setup;
import harness.Tools;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;

/**
 * The engine that reads the heap itself writes of a quiet JVM what HotSpot writes: the same objects at the same
 * addresses, in every layout. What was compared and let pass is in target/same/. `-Dsetup='25.0.3 G1'` takes only the
 * setups with these words; `-Djunit.jupiter.tempdir.cleanup.mode.default=ON_SUCCESS` leaves the dumps that differ.
 */
class SameAsHotSpotTest {
    private static final Collector[] COLLECTORS = {Collector.SERIAL, Collector.PARALLEL, Collector.G1};

    private static final String[] QUIET_ZGC = {"-Xmx512m", "-XX:-ZProactive"};

    /** Each places the heap or lays out objects in another way. */
    private static final String[][] LAYOUTS_OF_17 = {
        {"-Xmx4g"},                                          // compressed references are scaled
        {"-XX:HeapBaseMinAddress=64g", "-Xmx512m"},          // and have a base
        {"-XX:ObjectAlignmentInBytes=16", "-Xmx512m"},
        {"-XX:ObjectAlignmentInBytes=16", "-Xmx40g"},        // and are scaled more
        {"-XX:-UseCompressedClassPointers", "-Xmx512m"},
        {"-XX:-UseCompressedClassPointers", "-XX:-UseCompressedOops", "-Xmx512m"},
    };

    /** The same for the headers of JDK 24 and later, which hold the class and more. */
    private static final String[][] LAYOUTS_OF_25 = {
        {"-XX:HeapBaseMinAddress=64g", "-Xmx512m"},
        {"-XX:+UseCompactObjectHeaders", "-XX:-UseCompressedOops", "-Xmx512m"},
        {"-XX:+UseCompactObjectHeaders", "-XX:ObjectAlignmentInBytes=16", "-Xmx512m"},
    };

    @TempDir Path folder;

    /** Those with a jcmd of their own, not of each major version only one: some have an archive of shared classes. */
    private static List<Jdk> jdks() {
        return Jdks.all().stream().filter(jdk -> jdk.major >= 11 && Files.exists(jdk.home.resolve("bin/jcmd")))
                .collect(Collectors.toList());
    }

    private static boolean hasArchive(Jdk jdk) {
        return Files.exists(jdk.home.resolve("lib/server/classes.jsa"));
    }

    /** Of two JDKs of a version the one with an archive has all setups, the other one: it is there for the difference. */
    private static boolean isSecond(Jdk jdk) {
        return !hasArchive(jdk)
                && jdks().stream().anyMatch(other -> other.major == jdk.major && hasArchive(other));
    }

    /** The setups that are asked for; every other one is dumped by HotSpot first. */
    static Stream<Arguments> setups() {
        List<Setup> setups = new ArrayList<>();
        for (Jdk jdk : jdks()) {
            if (isSecond(jdk)) {
                setups.add(Setup.of(jdk, Collector.G1, "-Xmx512m"));
                continue;
            }
            for (Collector collector : COLLECTORS) {
                // Java 11 reports constants of compiled methods as roots under the other two: none are compiled.
                String mode = jdk.major == 11 && collector != Collector.G1 ? "-Xint" : "-Xmixed";
                setups.add(Setup.of(jdk, collector, mode, "-Xmx512m"));
                setups.add(Setup.of(jdk, collector, mode, "-Xmx512m", "-XX:-UseCompressedOops"));
                if (jdk.major >= 25) {
                    setups.add(Setup.of(jdk, collector, "-Xmx512m", "-XX:+UseCompactObjectHeaders"));
                }
                setups.add(Setup.of(jdk, collector, mode, "-Xmx512m", fileIn(System.getProperty("java.io.tmpdir"))));
            }
        }
        jdks().stream().filter(jdk -> jdk.major >= 17 && !isSecond(jdk))
                .forEach(jdk -> setups.add(Setup.of(jdk, Collector.ZGC, QUIET_ZGC)));
        setups.add(Setup.of(Jdks.of(21), Collector.ZGC, "-Xmx512m", "-XX:-ZProactive", "-XX:+ZGenerational"));
        if (new File("/dev/shm").getUsableSpace() > 1 << 30) {
            setups.add(Setup.of(Jdks.of(21), Collector.G1, "-Xmx512m", "-XX:-UseCompressedOops", fileIn("/dev/shm")));
        }
        setups.addAll(layouts(Jdks.of(17), LAYOUTS_OF_17));
        setups.addAll(layouts(Jdks.of(25), LAYOUTS_OF_25));
        return IntStream.range(0, setups.size())
                .filter(i -> setups.get(i).toString().contains(System.getProperty("setup", "")))
                .mapToObj(i -> Arguments.of(setups.get(i), (i / 2 + i) % 2 == 0 ? HOTSPOT_FIRST : OURS_FIRST));
    }

    /** The heap is a file, which a fork does not copy. */
    private static String fileIn(String folder) {
        return "-XX:AllocateHeapAt=" + folder;
    }

    /** One of each, with the collectors in turn. */
    private static List<Setup> layouts(Jdk jdk, String[][] layouts) {
        return IntStream.range(0, layouts.length)
                .mapToObj(i -> Setup.of(jdk, COLLECTORS[i % COLLECTORS.length], layouts[i])).collect(Collectors.toList());
    }

    @EachJdk("the judge of all that a dump holds")
    @ParameterizedTest
    @Rows("setups")
    void isTheSame(Setup setup, Comparison.Order order) throws IOException {
        Path ours = folder.resolve("ours.hprof");
        Path theirs = folder.resolve("hotspot.hprof");
        Path survivors = folder.resolve("survivors.hprof");
        try (Jvm jvm = launch(setup).run(Quiet.class).ready()) {
            if (order == HOTSPOT_FIRST) {
                jvm.hotspotDumpAll(theirs);
                attach(jvm, ours);
            } else {
                attach(jvm, ours);
                jvm.hotspotDumpAll(theirs);
            }
            mustHaveBeenQuiet(jvm);
            jvm.hotspotDump(survivors);
        }
        HprofFile our = HprofFile.read(ours);
        Findings findings = Comparison.of(our, HprofFile.read(theirs), order);
        // ZGC of 17 keeps strings that only HotSpot's table of strings has.
        if (setup.collector != Collector.ZGC || setup.jdk.major > 17) {
            Survivors.compare(our, HprofFile.read(survivors), findings);
        }
        String report = setup + " " + order + ": " + findings;
        Files.writeString(Tools.report("same", (setup + " " + order).replaceAll("[^\\w.+-]+", "_") + ".txt"), report);
        assertEquals(0, findings.differences(), report);
    }

    static Stream<Jdk> ofApplications() {
        return Stream.of(17, 21, 25).map(Jdks::of);
    }

    /** An application as users have them, with lambdas, proxies, logging, pools of threads and several loaders. */
    @OnlyInTestAll("half a minute; isTheSame has every layout, PlantedTest such applications")
    @ParameterizedTest
    @Rows("ofApplications")
    void isTheSameOfAnApplication(Jdk jdk) {
        Path ours = folder.resolve("ours.hprof");
        Path theirs = folder.resolve("hotspot.hprof");
        Launch launch = Jvm.on(jdk, folder).switches("-Xmx512m");
        Tools.jars().forEach(launch::classPath);
        try (Jvm jvm = launch.run(WebServer.class).ready()) {
            attach(jvm, ours);
            jvm.hotspotDumpAll(theirs);
            mustHaveBeenQuiet(jvm);
        }
        Findings findings = Comparison.of(HprofFile.read(ours), HprofFile.read(theirs), OURS_FIRST);
        assertEquals(0, findings.differences(), findings::toString);
    }

    private Launch launch(Setup setup) {
        Launch launch = setup.on(folder);
        return setup.jdk.major >= 17 ? launch.classPath(Javac.subjects(17)) : launch;
    }

    private static void attach(Jvm jvm, Path file) {
        Command attached = jvm.attach("heap=dump,file=" + file);
        assertTrue(attached.out.contains("return code: 0"), () -> attached + "stderr:\n" + jvm.err.text());
        String end = jvm.dumped(1);
        assertTrue(end.contains("engine snapshot"), end);
    }

    /** The subject counted collections before its last own and before it was ready; now it counts again. */
    static void mustHaveBeenQuiet(Jvm jvm) {
        String before = collections(jvm, 2);
        String after = collections(jvm.say("collections"), 3);
        assertEquals(before, after, "a collection between the dumps moved objects: they cannot be compared");
    }

    private static String collections(Jvm jvm, int count) {
        return jvm.out.await(count, "a number of collections", line -> line.startsWith("COLLECTIONS"), Jvm.LIMIT);
    }
}
