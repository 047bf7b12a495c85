package sites;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Collector;
import harness.Command;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.Rows;
import harness.Setup;
import harness.SharkReader;
import harness.SiteList;
import harness.Tools;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** A leak of known size at a known line is what everything shows first: the table, the dump's objects, both as folded stacks. */
class LeakTest {
    /** An array has a header of 16 bytes, and its size is a multiple of 8. */
    private static final long BYTES = Leak.LEAKS * (16L + Leak.LEAK_BYTES);

    @TempDir Path folder;

    static List<Jdk> since11() {
        return Jdks.since(11);
    }

    static List<Jdk> some() {
        return List.of(Jdks.of(8), Jdks.of(17), Jdks.of(25));
    }

    /** ZGC with two generations, as those that 23 and later have are: there samples hold their objects until an old collection. */
    static List<Setup> generations() {
        return List.of(Setup.of(Jdks.of(21), Collector.ZGC, "-XX:+ZGenerational"), Setup.of(Jdks.of(25), Collector.ZGC));
    }

    @ParameterizedTest
    @Rows("since11")
    void isFirstOfWhatIsSampled(Jdk jdk) throws IOException {
        Path dump = dump(jdk, "64k,maxcost=0");
        // Of the arrays four of five are sampled, and so have a stack in the dump: each counts for more. Next to small objects
        // HotSpot samples arrays that are too large for a thread's buffer a tenth less often than its interval demands.
        mustBeFirst(dump, "sites", 0.7, 1.01);
        mustBeFirst(dump, "dump", 0.7, 1.01);
    }

    @ParameterizedTest
    @Rows("generations")
    void isFirstWhereGarbageCountsForLong(Setup setup) throws IOException {
        Path dump = dump(setup.on(folder), "64k,maxcost=0");
        mustBeFirst(dump, "sites", 0.7, 1.01);
        mustBeFirst(dump, "dump", 0.7, 1.01);
    }

    @ParameterizedTest
    @Rows("some")
    void isThereToTheByteIfAllIsCounted(Jdk jdk) throws IOException {
        Path dump = dump(jdk, "0");
        mustBeFirst(dump, "sites", 1, 1);
        mustBeFirst(dump, "dump", 1, 1);
    }

    private Path dump(Jdk jdk, String sampling) {
        return dump(Jvm.on(jdk, folder), sampling);
    }

    private Path dump(Launch launch, String sampling) {
        Path dump = folder.resolve("out.hprof");
        try (Jvm jvm = launch.agent("heap=all,sampling=" + sampling + ",file=" + dump).run(Leak.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        new HprofCheck(dump).good();
        assertTrue(new SharkReader(dump).histogram().of("byte[]") >= Leak.LEAKS);
        return dump;
    }

    private void mustBeFirst(Path dump, String from, double least, double most) throws IOException {
        SiteList.Site first = new SiteList(dump, from).sites.get(0);
        assertEquals("byte[]", first.className, from);
        assertEquals("sites.Leak.leak(Leak.java:" + line() + ")", first.frames.get(0), from);
        double share = first.liveBytes / (double) BYTES;
        assertTrue(least <= share && share <= most, () -> from + " " + first);

        List<String> stack = List.of("sites.Leak.main", "sites.Leak.leak:" + line(), "byte[]");
        String folded = Command.run(Tools.command(), "convert", dump, "-o", "-", "--to", "collapsed", "--from", from).good().out;
        String largest = Arrays.stream(folded.split("\n")).max(Comparator.comparingLong(LeakTest::number)).orElseThrow();
        assertEquals(String.join(";", stack) + " " + first.liveBytes, anyLineOfMain(largest));
    }

    private static String anyLineOfMain(String frames) {
        return frames.replaceAll("(Leak\\.main):\\d+", "$1");
    }

    private static long number(String folded) {
        return Long.parseLong(folded.substring(folded.lastIndexOf(' ') + 1));
    }

    private static int line() {
        return Tools.line("sites/Leak.java", "the line that the reports must name");
    }
}
