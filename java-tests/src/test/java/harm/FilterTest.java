package harm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Command;
import harness.Engine;
import harness.Jdks;
import harness.Jvm;
import harness.Testimony;
import java.nio.file.Path;
import java.nio.file.Paths;
import lifecycle.Patient;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where a filter (seccomp) ends the process at system calls that the JVM itself does without, the agent does without them, too. */
class FilterTest {
    @TempDir Path folder;

    @ParameterizedTest
    @ValueSource(ints = {8, 17, 25})
    void theAgentMakesNoCallThatTheFilterEndsTheProcessFor(int major) {
        Path source = Paths.get(System.getProperty("basedir", ""), "src/test/java/harm/filter.c");
        Path filter = folder.resolve("filter");
        Command.run("cc", "-o", filter, source).good();
        try (Jvm jvm = Jvm.on(Jdks.of(major), folder).through(filter.toString()).dumpTo(folder.resolve("out.hprof"))
                .run(Patient.class).ready()) {
            jvm.signal("QUIT");
            assertTrue(Engine.isSnapshot(jvm.dumped(1)), jvm.err::text);
            jvm.say("after").out.await("ECHO after", Jvm.LIMIT);
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(Engine.isSnapshot(jvm.dumped(2)), jvm.err::text);
            Testimony.of(jvm).mustHoldIn(folder.resolve("out.hprof"));
            Testimony.of(jvm).mustHoldIn(folder.resolve("out.1.hprof"));
        }
    }
}
