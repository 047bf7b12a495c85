package threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Collector;
import harness.Engine;
import harness.Folder;
import harness.Jvm;
import harness.Rows;
import harness.Setup;
import harness.Testimony;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** What a method is returning when its thread stops is in the dump, although no frame has it. */
class ReturnedTest {
    @TempDir Path folder;

    static List<Setup> setups() {
        return Setup.matrix().stream().filter(setup -> setup.collector != Collector.ZGC || setup.jdk.major >= 17).collect(Collectors.toList());
    }

    @ParameterizedTest
    @Rows("setups")
    void isInTheDump(Setup setup) {
        try (Jvm jvm = setup.on(folder).switches("-Xmx256m").switches(Returned.SWITCHES)
                .agent("heap=dump,doe=n,file=" + folder.resolve("out.hprof")).run(Returned.class).ready()) {
            jvm.signal("QUIT");
            Path dump = new Folder(folder).await("out.hprof", Jvm.LIMIT);
            String line = jvm.dumped(1);
            assertTrue(Engine.isSnapshot(line), jvm.err::text);
            assertEquals(0, jvm.end(), jvm.err::text);
            Testimony.of(jvm).mustHoldIn(dump);
        }
    }
}
