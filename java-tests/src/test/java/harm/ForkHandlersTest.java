package harm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Command;
import harness.Engine;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Testimony;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;

/** What other libraries want done in a fork stops no dump and no application. */
class ForkHandlersTest {
    @TempDir static Path library;
    @TempDir Path folder;

    @BeforeAll
    static void compile() {
        Path source = Paths.get(System.getProperty("basedir", ""), "src/test/java/harm/handlers.c");
        Command.run("cc", "-shared", "-fPIC", "-pthread", "-o", library.resolve("handlers.so"), source).good();
    }

    static Stream<Arguments> handlers() {
        return Stream.of(8, 17, 25).flatMap(
                major -> Stream.of("join", "lock", "sleep").map(handler -> Arguments.of(Jdks.of(major), handler)));
    }

    @ParameterizedTest
    @Rows("handlers")
    void dumpsAreMadeAndTheApplicationGoesOn(Jdk jdk, String handler) {
        try (Jvm jvm = Jvm.on(jdk, folder).through("env", "HANDLER=" + handler).dumpTo(folder.resolve("out.hprof"))
                .run(ForkHandlers.class, library.resolve("handlers.so").toString()).ready()) {
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
