package harm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Engine;
import harness.HprofCheck;
import harness.InTurn;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.MemoryGroup;
import harness.ProcessMemory;
import harness.Rows;
import harness.Testimony;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import threads.Deep;

/**
 * Before it walks the heap, the JVM takes up to 5 KiB for each frame of all stacks up to 14, here some 250 MB, and keeps them: the
 * agent gives them back, and does not dump where the application would lack them. Since 16 it has the JVM do without.
 */
class DeepStacksTest extends HoldingTest {
    /** Far below what the JVM takes for the stacks, far above what else a dump leaves. */
    private static final long KEPT_KB = 50 * 1024;
    /** Too little for the stacks, enough for the program. */
    private static final long LEFT_BYTES = 150 << 20;

    static List<Jdk> old() {
        return List.of(Jdks.of(8), Jdks.of(11));
    }

    static List<Jdk> eleven() {
        return List.of(Jdks.of(11));
    }

    @ParameterizedTest
    @Rows("two")
    void doNotStopTheApplicationForLong(Jdk jdk) {
        try (Jvm jvm = deep(jdk).run(Deep.class).ready()) {
            ProcessMemory memory = new ProcessMemory(jvm.pid());
            long before = memory.kilobytes("Rss");
            jvm.signal("QUIT");
            String line = outcome(jvm, 1);
            assertTrue(Engine.isSnapshot(line), line);
            assertFalse(jvm.err.text().contains("replaced"), jvm.err::text);
            assertTrue(memory.peakKilobytes() < before + KEPT_KB, before + " kB before the dump, then " + memory.peakKilobytes());
            Path file = folder.resolve("out.1.hprof");
            new HprofCheck(file).good();
            Testimony.of(jvm).mustHoldIn(file);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    @InTurn("the other tests of this class")
    @ParameterizedTest
    @Rows("old")
    void costNoMemoryAfterwards(Jdk jdk) {
        try (Jvm jvm = deep(jdk).run(Deep.class).ready()) {
            ProcessMemory memory = new ProcessMemory(jvm.pid());
            long before = memory.kilobytes("Rss");
            jvm.signal("QUIT");
            String line = outcome(jvm, 1);
            assertTrue(Engine.isSnapshot(line), line);
            long peak = memory.peakKilobytes();
            assertTrue(peak > before + KEPT_KB, before + " kB before the dump, at most " + peak);
            memory.awaitBelow("Rss", before + KEPT_KB, Jvm.LIMIT);
            Path file = folder.resolve("out.1.hprof");
            new HprofCheck(file).good();
            Testimony.of(jvm).mustHoldIn(file);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    @ParameterizedTest
    @Rows("eleven")
    void areNotWalkedWhereMemoryIsShort(Jdk jdk) throws IOException {
        Path group = MemoryGroup.make();
        try (Jvm jvm = deep(jdk)
                .through(MemoryGroup.in(group)).run(Deep.class).ready()) {
            MemoryGroup.leave(group, LEFT_BYTES);
            jvm.signal("QUIT");
            String line = outcome(jvm, 1);
            assertTrue(line.matches("no dump: the JVM would need about \\d+ MiB of memory to walk the \\d+ frames of all stacks, "
                    + "but only \\d+ MiB are left, which the application may need; raise its limit, or dump while fewer threads run"), line);
            MemoryGroup.lift(group);
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(jvm.out.text().contains("ENDED"), jvm.out::text);
            assertTrue(Engine.isSnapshot(outcome(jvm, 2)), jvm.err::text);
        } finally {
            ControlGroup.delete(group, Jvm.LIMIT);
        }
    }

    private Launch deep(Jdk jdk) {
        return Jvm.on(jdk, folder).switches("-Xmx128m").agent("heap=dump,file=" + folder.resolve("out.%n.hprof"));
    }
}
