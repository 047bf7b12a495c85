package harm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Engine;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import readers.Few;

/** A forked copy is not read where nothing is. */
class HeapEndTest {
    @TempDir Path folder;

    static List<Jdk> withEpsilon() {
        return Jdks.since(11);
    }

    /**
     * Here the heap ends right after its last objects, a class of the JDK among them, whatever the calibration guesses. Other
     * collectors end there by chance: G1 in a program that did little.
     */
    @ParameterizedTest
    @Rows("withEpsilon")
    void theHeapMayEndBehindItsLastObject(Jdk jdk) {
        try (Jvm jvm = Jvm.on(jdk, folder).dumpTo(folder.resolve("exit.hprof"))
                .switches("-Xms1m", "-Xmx256m", "-XX:+UseEpsilonGC", "-XX:EpsilonMinHeapExpand=64k", "-XX:-UseTLAB")
                .run(Few.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(Engine.isSnapshot(jvm.dumped(1)), jvm.err::text);
        }
    }
}
