package same;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static same.Comparison.Order.OURS_FIRST;

import harness.Attach;
import harness.Collector;
import harness.Command;
import harness.Engine;
import harness.Folder;
import harness.HprofCheck;
import harness.InTurn;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Mounts;
import harness.Rows;
import harness.Setup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** A dump by HotSpot's own dumper holds what such a dump holds: the same objects at the same addresses, classes and stacks. */
class DumperTest {
    /** So that no collection comes of itself between two dumps. */
    private static final String[] QUIET_ZGC = {"-Xmx512m", "-XX:-ZProactive"};
    private static final String[] QUIET_SHENANDOAH = {"-Xmx512m", "-XX:ShenandoahGuaranteedGCInterval=0"};

    @TempDir Path folder;

    static Stream<Setup> setups() {
        List<Setup> setups = new ArrayList<>();
        for (Jdk jdk : Jdks.since(11)) {
            setups.add(Setup.of(jdk, Collector.G1, "-Xmx512m"));
            if (jdk.major >= 17 && jdk.collectors().contains(Collector.ZGC)) {
                setups.add(Setup.of(jdk, Collector.ZGC, QUIET_ZGC));
            }
            if (jdk.collectors().contains(Collector.SHENANDOAH)) {
                setups.add(Setup.of(jdk, Collector.SHENANDOAH, QUIET_SHENANDOAH));
            }
        }
        setups.add(Setup.of(Jdks.of(17), Collector.SERIAL, "-Xmx512m", "-XX:-UseCompressedOops"));
        setups.add(Setup.of(Jdks.of(25), Collector.PARALLEL, "-Xmx512m", "-XX:+UseCompactObjectHeaders"));
        return setups.stream().filter(setup -> setup.toString().contains(System.getProperty("setup", "")))
                .filter(setup -> Files.exists(setup.jdk.home.resolve("bin/jcmd")));
    }

    @InTurn("whatever else this class compares")
    @ParameterizedTest
    @Rows("setups")
    void isHotSpotsOwn(Setup setup) throws Exception {
        Path ours = folder.resolve("ours.hprof");
        Path theirs = folder.resolve("hotspot.hprof");
        try (Jvm jvm = setup.on(folder).run(Quiet.class).ready()) {
            String end = Attach.dump(jvm, 1, "stop=always,file=" + ours);
            assertTrue(end.matches(".*: \\d+ bytes; application paused for .* engine hotspot" + Engine.HOTSPOTS), end);
            assertEquals(Set.of("ours.hprof"), new Folder(folder).dumps(), "HotSpot's own file is gone");
            jvm.hotspotDumpAll(theirs);
            SameAsHotSpotTest.mustHaveBeenQuiet(jvm);
        }
        new HprofCheck(ours).good();
        HprofFile our = HprofFile.read(ours);
        HprofFile their = HprofFile.read(theirs);
        Findings findings = Comparison.of(our, their, OURS_FIRST);
        assertTrue(Set.of("object that only ours has").containsAll(findings.kinds()), findings::toString);
        assertTrue(findings.differences() <= 2, () -> "no more than the name for HotSpot's file, and its bytes: " + findings);
        assertTrue(our.objects.size() > 0.99 * their.objects.size(), findings::toString);
    }

    static Stream<Setup> withoutFork() {
        return Stream.of(Setup.of(Jdks.of(17), Collector.ZGC, QUIET_ZGC), Setup.of(Jdks.of(25), Collector.ZGC, QUIET_ZGC));
    }

    /** Whatever HotSpot could write of its file is gone when the disk takes no more, and so is ours; the application runs on. */
    @ParameterizedTest
    @Rows("withoutFork")
    void aDumpThatDoesNotFitLeavesNothing(Setup setup) throws IOException {
        try (Jvm jvm = setup.on(folder).agent("heap=dump,doe=n,stop=always,file=" + folder.resolve("out.hprof")).run(Quiet.class).ready()) {
            Command.run("prlimit", "--fsize=1000000", "--pid", jvm.pid()).good();
            jvm.signal("QUIT");
            String line = jvm.err.await("hprof-rs: no dump: HotSpot's own dumper, which writes a file of its own ", Jvm.LIMIT);
            assertTrue(line.contains("File too large"), line);
            assertEquals(Set.of(), new Folder(folder).dumps());
            jvm.say("collections").out.await(3, "an answer", text -> text.startsWith("COLLECTIONS"), Jvm.LIMIT);
        }
    }

    /** A file is refused that the disk may have no room for, before the application stops. */
    @ParameterizedTest
    @Rows("withoutFork")
    void aDiskThatIsTooSmallIsSeenBefore(Setup setup) throws IOException {
        Path disk = Files.createDirectories(folder.resolve("disk"));
        try (Jvm jvm = setup.on(folder).through("unshare", Mounts.OWN, "sh", "-c",
                "mount -t tmpfs -o size=1m tmpfs " + disk + " && exec \"$@\"", "sh")
                .agent("heap=dump,doe=n,stop=always,file=" + disk.resolve("out.hprof")).run(Quiet.class).ready()) {
            jvm.signal("QUIT");
            String line = jvm.err.await("hprof-rs: no dump: HotSpot's own dumper may need ", Jvm.LIMIT);
            assertTrue(line.contains(", and the disk has 1 MB left"), line);
            assertEquals(Set.of(), new Folder(Path.of("/proc/" + jvm.pid() + "/root" + disk)).names());
        }
    }
}
