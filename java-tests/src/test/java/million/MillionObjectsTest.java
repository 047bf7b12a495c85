package million;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Folder;
import harness.Jvm;
import harness.Rows;
import harness.Setup;
import harness.Testimony;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** A million objects come through whole on every Java and with every collector, by the word of every judge. */
class MillionObjectsTest {
    @ParameterizedTest
    @Rows("harness.Setup#matrix")
    void arriveWhole(Setup setup, @TempDir Path folder) {
        Path dump = folder.resolve("million.hprof");
        try (Jvm jvm = Jvm.on(setup.jdk, folder).with(setup.collector).switches("-Xmx256m").dumpTo(dump)
                .run(MillionObjects.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(jvm.dumped(1).contains(dump.toString()), jvm.err::text);
            assertEquals(Set.of("million.hprof"), new Folder(folder).dumps(), "files");
            Testimony.of(jvm).mustHoldIn(dump);
        }
    }
}
