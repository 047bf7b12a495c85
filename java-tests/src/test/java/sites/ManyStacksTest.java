package sites;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Command;
import harness.InTurn;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Tools;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** Stacks beyond the limit of memory for them count for one, which the report names. */
class ManyStacksTest {
    /** A row: rank, share, bytes, number of live objects, and more. */
    private static final Pattern OTHERS = Pattern.compile("\\n +\\d +[\\d.]+ +[\\d,]+ +([\\d,]+) .* sites\\.ManyStacks\\$Made\\n"
            + " +at java\\.lang\\.Object\\.<other stacks>\\(");

    @TempDir Path folder;

    static Stream<Jdk> jdks() {
        return Stream.of(8, 17, 25).map(Jdks::of);
    }

    @InTurn("the package tables has the same limit in a unit test")
    @ParameterizedTest
    @Rows("jdks")
    void stacksBeyondTheLimitAreOne(Jdk jdk) {
        Path file = folder.resolve("out.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-Xss4m")
                .agent("heap=all,sampling=0,cutoff=0,depth=" + (ManyStacks.FRAMES + 10) + ",file=" + file)
                .run(ManyStacks.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        for (String from : List.of("sites", "dump")) {
            String told = Command.run(Tools.command(), "sites", file, "--from", from, "--top", "9").good().out;
            Matcher row = OTHERS.matcher(told);
            assertTrue(row.find(), told);
            int others = Integer.parseInt(row.group(1).replace(",", ""));
            assertTrue(others > 1000 && others < ManyStacks.OBJECTS - 1000, told);
        }
        assertTrue(Command.run(Tools.command(), "convert", file, "-o", "-", "--to", "svg").good().out.contains("other stacks"), "the flame graph");
    }
}
