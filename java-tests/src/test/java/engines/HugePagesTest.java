package engines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import harness.Engine;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.ProcessMemory;
import harness.Rows;
import java.io.IOException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import readers.Few;

/**
 * hugepages=y has the kernel make huge pages of the heap before a fork: the kernel's own account of the process shows that it
 * did, and that the process has not grown, and the dump is as good as any.
 */
class HugePagesTest {
    private static final int HEAP_MB = 128;
    private static final Pattern MADE = Pattern.compile("hprof-rs: (\\d+) MB of the heap are huge pages, made in \\d+ ms"
            + "(?:; not all of (\\d+) MB, because free memory is fragmented)?");
    private static final Pattern KERNEL = Pattern.compile("(\\d+)\\.(\\d+).*");

    @TempDir Path folder;

    static Stream<Jdk> jdks() {
        return Jdks.majors().stream().filter(jdk -> jdk.major >= 11);
    }

    @ParameterizedTest
    @Rows("jdks")
    void theHeapIsMadeOfThem(Jdk jdk) throws IOException {
        Path dump = folder.resolve("a.hprof");
        // All of the heap is in use from the beginning.
        try (Jvm jvm = Jvm.on(jdk, folder)
                .switches("-Xms" + HEAP_MB + "m", "-Xmx" + HEAP_MB + "m", "-XX:+UseParallelGC", "-XX:+AlwaysPreTouch")
                .run(Few.class).ready()) {
            ProcessMemory memory = new ProcessMemory(jvm.pid());
            long residentKb = memory.kilobytes("Rss");
            jvm.attach("heap=dump,hugepages=y,file=" + dump).good();
            assertTrue(Engine.isSnapshot(jvm.dumped(1)), jvm.err::text);
            if (isBefore61()) {
                assertTrue(jvm.err.text().contains("hprof-rs: hugepages=y does nothing: "), jvm.err::text);
                return;
            }
            Matcher made = MADE.matcher(jvm.err.text());
            assertTrue(made.find(), jvm.err::text);
            long madeKb = Long.parseLong(made.group(1)) * 1_000_000 / 1024;
            // Whether there is memory in one piece is up to all that runs on the machine; what there is must be made use of.
            long refusedKb = made.group(2) == null ? 0 : Long.parseLong(made.group(2)) * 1_000_000 / 1024;
            assertTrue(madeKb + refusedKb > HEAP_MB * 1024 * 9 / 10, jvm.err::text);
            assumeTrue(madeKb > 0, "the machine has no memory in one piece at all");
            // What the application has written to since the fork has small pages again.
            assertTrue(memory.kilobytes("AnonHugePages") > madeKb / 2, () -> "kB of huge pages: " + memory.kilobytes("AnonHugePages"));
            assertTrue(memory.kilobytes("Rss") < residentKb + 32 * 1024, () -> residentKb + " kB resident before, now " + memory.kilobytes("Rss"));
        }
        new HprofCheck(dump).good();
    }

    /** At the end nobody is left whom a pause would hold up, and the pages are not worth their making. */
    @Test
    void theLastDumpDoesWithoutThem() {
        Path dump = folder.resolve("a.hprof");
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).agent("heap=dump,hugepages=y,file=" + dump).run(Few.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(Engine.isSnapshot(jvm.dumped(1)), jvm.err::text);
            assertFalse(jvm.err.text().contains("huge"), jvm.err::text);
        }
    }

    private static boolean isBefore61() {
        Matcher version = KERNEL.matcher(System.getProperty("os.version"));
        assertTrue(version.matches(), System.getProperty("os.version"));
        int major = Integer.parseInt(version.group(1));
        return major < 6 || major == 6 && Integer.parseInt(version.group(2)) < 1;
    }
}
