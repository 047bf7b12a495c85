package threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Collector;
import harness.Engine;
import harness.Folder;
import harness.HprofCheck;
import harness.InTurn;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Setup;
import harness.Testimony;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** What only objects refer to that the compiler has replaced is in the dump, although no such object is made again for it. */
class ReplacedTest {
    @TempDir Path folder;

    static List<Setup> setups() {
        Stream<Setup> wide = Jdks.since(17).stream().map(jdk -> Setup.of(jdk, Collector.SERIAL, "-XX:-UseCompressedOops"));
        Stream<Setup> narrow = Setup.matrix().stream().filter(setup -> setup.jdk.major >= 17 && setup.collector != Collector.ZGC);
        return Stream.concat(narrow, wide).collect(Collectors.toList());
    }

    @InTurn("RunningTest#framesAreThoseOfOneMoment")
    @ParameterizedTest
    @Rows("setups")
    void objectsLeadToWhatTheyHeld(Setup setup) {
        try (Jvm jvm = setup.on(folder).switches("-Xmx256m", "--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED").switches(Replaced.SWITCHES)
                .agent("heap=dump,doe=n,file=" + folder.resolve("out.hprof")).run(Replaced.class).ready()) {
            jvm.signal("QUIT");
            Path dump = new Folder(folder).await("out.hprof", Jvm.LIMIT);
            Testimony testimony = Testimony.of(jvm);
            assertEquals(0, jvm.end(), jvm.err::text);
            String line = jvm.err.lines().stream().filter(text -> text.contains("hprof-rs: dumped")).findFirst().orElseThrow();
            assertTrue(Engine.isSnapshot(line), jvm.err::text);
            testimony.mustHoldIn(dump);
            long made = new HprofCheck(dump).good().histogram().of("threads.Replaced$Cursor");
            assertTrue(made < 50, made + " of more than " + Replaced.MANY + " objects were not replaced");
        }
    }
}
