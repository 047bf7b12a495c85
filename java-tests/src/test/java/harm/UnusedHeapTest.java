package harm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Collector;
import harness.Engine;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.ProcessMemory;
import harness.Rows;
import java.io.IOException;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;

/** The copy does not get the parts of the heap that hold no object: the pause is shorter for it, and the process as before. */
class UnusedHeapTest extends HoldingTest {
    private static final int HEAP_MB = 512;
    /** What the program may use before the copy is made, however long that takes. */
    private static final int YOUNG_MB = 32;
    /** What the copy may have of the heap, and of all else that a small JVM has. */
    private static final long COPY_KB = 200 * 1024;

    static Stream<Arguments> heaps() {
        // Java 8 does not say where Serial has its spaces.
        return Jdks.majors().stream().flatMap(
                jdk -> Stream.of(Collector.G1, Collector.PARALLEL, Collector.SERIAL)
                        .filter(collector -> jdk.major >= 11 || collector != Collector.SERIAL)
                        .map(collector -> Arguments.of(jdk, collector)));
    }

    @ParameterizedTest
    @Rows("heaps")
    void isNotCopied(Jdk jdk, Collector collector) throws IOException {
        // Each page of the heap is there from the beginning; the program uses some of the first.
        try (Jvm jvm = run(holding(jdk, Place.ENCODING, "").with(collector)
                .switches("-Xms" + HEAP_MB + "m", "-Xmx" + HEAP_MB + "m", "-Xmn" + YOUNG_MB + "m", "-XX:+AlwaysPreTouch"))) {
            ProcessMemory parent = new ProcessMemory(jvm.pid());
            long empty = parent.emptyInForks();
            ProcessMemory copy = new ProcessMemory(heldCopy(jvm));
            long parentKb = parent.kilobytes("Rss");
            assertTrue(parentKb > HEAP_MB * 1024, () -> parentKb + " kB resident in the application");
            long copyKb = copy.kilobytes("Rss");
            assertTrue(copyKb < COPY_KB, () -> copyKb + " kB resident in the copy");
            assertEquals(empty, parent.emptyInForks(), "mappings of the application that its forks would not get");
            release();
            assertTrue(Engine.isSnapshot(jvm.dumped(1)), jvm.err::text);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        new HprofCheck(folder.resolve("out.1.hprof")).good();
    }
}
