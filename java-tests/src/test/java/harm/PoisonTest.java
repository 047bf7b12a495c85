package harm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Engine;
import harness.Folder;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Testimony;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;

/** A heap that a faulty library has damaged is read in the copy alone: the application, which never reads it, runs on. */
class PoisonTest {
    private static final String OUTSIDE = "a reference points outside the heap, to 0x[0-9a-f]+";
    private static final String NO_CLASS = "the object at 0x[0-9a-f]+ has no valid class";

    private static final String TOO_LONG = "the array at 0x[0-9a-f]+ is longer than the heap";

    @TempDir Path folder;

    static Stream<Arguments> damages() {
        return Stream.of(Jdks.of(17), Jdks.of(25)).flatMap(jdk -> Stream.of("-XX:+UseCompressedOops", "-XX:-UseCompressedOops")
                .flatMap(references -> Stream.of(
                        Arguments.of(jdk, references, "outside", OUTSIDE),
                        Arguments.of(jdk, references, "inside", NO_CLASS),
                        Arguments.of(jdk, references, "class", NO_CLASS),
                        Arguments.of(jdk, references, "length", TOO_LONG))));
    }

    @ParameterizedTest
    @Rows("damages")
    void aDamagedHeapIsNotReadInsideTheApplication(Jdk jdk, String references, String damage, String what) {
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-Xmx256m", "-XX:+UseEpsilonGC", references)
                .agent("heap=dump,file=" + folder.resolve("out.%n.hprof")).run(Poison.class).ready()) {
            jvm.say(damage).out.await("DID " + damage, Jvm.LIMIT);
            jvm.signal("QUIT");
            String line = jvm.err.await(1, "word of a dump's end",
                    text -> text.contains("hprof-rs: no dump") || text.contains("hprof-rs: dumped"), Jvm.LIMIT);
            assertTrue(line.matches("hprof-rs: no dump: the heap seems to be damaged: " + what
                    + "; nothing else is tried, because it would read the heap inside the application"), line);
            jvm.say("heal").out.await("DID heal", Jvm.LIMIT);
            assertEquals(List.of(), Children.of(jvm.pid()), "children and zombies");
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(jvm.out.text().endsWith("HOLDS"), jvm.out::text);
            assertEquals(Set.of("out.2.hprof"), new Folder(folder).dumps());
            assertTrue(Engine.isSnapshot(jvm.dumped(1)), jvm.err::text);
            Testimony.of(jvm).mustHoldIn(folder.resolve("out.2.hprof"));
        }
    }
}
