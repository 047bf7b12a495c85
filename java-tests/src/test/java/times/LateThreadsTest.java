package times;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import harness.Command;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;

/** A thread that leaves the JVM after its thread-local values are gone runs rewritten code, and nobody panics. */
class LateThreadsTest {
    @TempDir static Path library;
    @TempDir Path folder;

    @BeforeAll
    static void compile() {
        // The JDK that runs this test has the headers.
        Path include = Paths.get(System.getProperty("java.home"), "include");
        Path source = Paths.get(System.getProperty("basedir", ""), "src/test/java/times/late.c");
        Command.run("cc", "-shared", "-fPIC", "-pthread", "-I" + include, "-I" + include.resolve("linux"), "-o",
                library.resolve("late.so"), source).good();
    }

    static Stream<Arguments> modes() {
        return Stream.of(8, 17, 25).flatMap(major -> Stream.of("cpu=times", "heap=sites,sampling=0")
                .map(mode -> Arguments.of(Jdks.of(major), mode)));
    }

    @ParameterizedTest
    @Rows("modes")
    void nobodyPanics(Jdk jdk, String mode) {
        try (Jvm jvm = Jvm.on(jdk, folder).agent(mode + ",verbose=n,file=" + folder.resolve("out.txt"))
                .run(LateThreads.class, library.resolve("late.so").toString())) {
            assertEquals(0, jvm.exit(), jvm.err::text);
            assertEquals("BYE", jvm.out.text().trim());
            assertFalse(jvm.err.text().contains("panicked"), jvm.err::text);
        }
    }
}
