package readers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Command;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Tools;
import java.nio.file.Path;
import java.util.List;
import old.Allocating;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** `hprof check` finds no errors in the files of other writers, whose readers cope with them. */
class OtherWritersTest {
    @TempDir Path folder;

    static List<Jdk> jdks() {
        return Jdks.majors();
    }

    @ParameterizedTest
    @Rows("jdks")
    void hotspot(Jdk jdk) {
        Path dump = folder.resolve("hotspot.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-Xmx16m", "-XX:+HeapDumpOnOutOfMemoryError", "-XX:HeapDumpPath=" + dump)
                .run(Filling.class)) {
            assertEquals(1, jvm.exit(), jvm.err::text);
        }
        assertTrue(written(dump).contains("\"writer\": \"HotSpot\""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"heap=dump", "heap=all", "heap=sites", "cpu=samples"})
    void jdkAgent(String mode) {
        Path file = folder.resolve("agent.hprof");
        try (Jvm jvm = Jvm.on(Jdks.of(8), folder).switches("-agentlib:hprof=" + mode + ",format=b,file=" + file)
                .run(Allocating.class, "end")) {
            assertEquals(0, jvm.exit(), jvm.err::text);
        }
        assertTrue(written(file).contains("\"writer\": \"the JDK's HPROF agent\""));
    }

    /** What the command must print about the file, without an error. */
    private static String written(Path file) {
        return Command.run(Tools.command(), "check", "--json", file).good().out;
    }
}
