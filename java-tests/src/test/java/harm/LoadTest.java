package harm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Engine;
import harness.Folder;
import harness.HprofCheck;
import harness.InTurn;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Testimony;
import harness.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Dump after dump of a JVM that does everything at once: each is whole and was made by a fork, and none leaves a trace in the JVM.
 * {@code -Ddumps=300} makes more of them; their end lines are kept under target/harm/.
 */
@Isolated("keeps both processors busy")
class LoadTest {
    private static final int DUMPS = Integer.getInteger("dumps", 20);

    @TempDir Path folder;

    static List<Jdk> jdks() {
        return IntStream.of(11, 17, 21, 25).mapToObj(Jdks::of).collect(Collectors.toList());
    }

    @InTurn("AttachTest#threeTimesInOneProcess")
    @ParameterizedTest
    @Rows("jdks")
    void dumpsInARow(Jdk jdk) throws IOException {
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-Xmx256m")
                .agent("heap=dump,doe=n,file=" + folder.resolve("out.%n.hprof")).run(Storm.class, "100", "all").ready()) {
            dump(jvm, 1);
            List<String> before = atRest(jvm, 1);
            for (int number = 2; number <= DUMPS; number++) {
                dump(jvm, number);
            }
            assertEquals(before, atRest(jvm, 2), "open descriptors after the first dump and the last");
            assertEquals(0, jvm.end(), () -> faults(jvm));
            assertTrue(faults(jvm).startsWith("HOLDS"), () -> faults(jvm));
            assertEquals(Set.of(), new Folder(folder).dumps());
            Files.write(Tools.report("harm", "load-" + jdk.major + ".txt"), jvm.err.lines());
        }
    }

    /** One dump, which must be whole. */
    private void dump(Jvm jvm, int number) throws IOException {
        jvm.signal("QUIT");
        String line = jvm.err.await(number, "word of a dump's end",
                text -> text.contains("hprof-rs: dumped") || text.contains("hprof-rs: no dump"), Jvm.LIMIT);
        assertTrue(line.contains("dumped") && Engine.isSnapshot(line), jvm.err::text);
        Path file = folder.resolve("out." + number + ".hprof");
        new HprofCheck(file).good();
        if (number == 1 || number == DUMPS) {
            Testimony.of(jvm).mustHoldIn(file);
        }
        Files.delete(file);
    }

    /** No worker runs: there is no child of any kind then, and the answer is what is open. */
    private static List<String> atRest(Jvm jvm, int count) {
        jvm.say("rest").out.await(count, "word of rest", "RESTING"::equals, Jvm.LIMIT);
        Children.awaitNone(jvm.pid(), Jvm.LIMIT);
        List<String> open = new ArrayList<>(Children.descriptors(jvm.pid()));
        jvm.say("on");
        return open;
    }

    /** The results of the program's own checks: its standard output is full of HotSpot's thread dumps. */
    private static String faults(Jvm jvm) {
        return jvm.out.lines().stream().filter(line -> Stream.of("FAULT", "BROKEN", "HOLDS").anyMatch(line::startsWith))
                .collect(Collectors.joining("\n"));
    }
}
