package harm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Command;
import harness.Folder;
import harness.Jdks;
import harness.Jvm;
import harness.MemoryGroup;
import harness.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import big.Million;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** In a container that has no room for it, an analysis is refused or given up, and the JVM runs on. */
@Isolated("fills the memory of a group")
class LittleRoomTest {
    /** More than the agent leaves to the application and a dump takes, but less than a graph of two million objects. */
    private static final long LEFT_BYTES = 64 << 20;

    @TempDir Path folder;

    @Test
    void anAnalysisEndsBeforeTheJvmDoes() throws IOException {
        Path group = MemoryGroup.make();
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).switches("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch")
                .agent("heap=dump,doe=n,on=every=1s,count=100,do=leaks=leaks.txt,file=a.hprof").through(MemoryGroup.in(group))
                .run(Million.class).ready()) {
            MemoryGroup.leave(group, LEFT_BYTES);
            String refusal = "no dump: hprof would need about \\d+ MiB of memory for \\d+ objects, but only \\d+ MiB are left, .*";
            jvm.err.await(1, "a refusal by the agent", line -> line.matches("hprof-rs: .*" + refusal), Jvm.LIMIT);
            Command asked = Command.run(words(MemoryGroup.in(group), Tools.command(), "leaks", jvm.pid()));
            assertEquals(2, asked.exit, asked::toString);
            assertTrue(asked.err.matches("(?s).*hprof: only \\d+ MiB of memory are left in this container or on this machine, .*"), asked::toString);
            try (Stream<Path> left = Files.list(Path.of("/tmp"))) {
                List<Path> its = left.filter(file -> file.toString().matches(".*hprof_.*\\." + jvm.pid() + "\\..*")).collect(Collectors.toList());
                assertEquals(List.of(), its, "it ended at once, and left nothing");
            }
            MemoryGroup.lift(group);
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(jvm.out.text().contains("BYE"), jvm.out::text);
        } finally {
            ControlGroup.delete(group, Jvm.LIMIT);
        }
        assertEquals(Set.of(), new Folder(folder).dumps());
    }

    private static Object[] words(String[] first, Object... more) {
        return Stream.concat(Arrays.stream(first), Arrays.stream(more)).toArray();
    }
}
