package memory;

import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.InTurn;
import harness.Jdk;
import harness.Jvm;
import harness.Rows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import big.Million;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;

/** A dump gives back what it took: no tags stay in the JVM, no buffers in the agent. */
@Isolated("measures memory of a process and of the system")
class MemoryTest {
    private static final Pattern ROW = Pattern.compile("-\\s+(.+?) \\(reserved=\\d+KB, committed=(\\d+)KB\\)");

    /** What grows for reasons of its own: the heap, its collector's tables, compiled code, thread stacks. */
    private static final Set<String> NOT_OURS = Set.of("Java Heap", "GC", "Code", "Compiler", "Thread", "Arena Chunk",
            "Shared class space");

    /**
     * The tag map of one disposed environment may wait for HotSpot's next clean-up, 10 to 14 MB with this heap, and
     * malloc keeps some; but what a dump takes is more than 100 MB, so two that give nothing back show.
     */
    private static final long SLACK_KB = 32 << 10;

    @TempDir Path folder;

    @InTurn("HarmTest, by the limits of its JVMs")
    @ParameterizedTest
    @Rows("harness.Jdks#majors")
    void isGivenBack(Jdk jdk) throws IOException {
        // One arena of malloc, lest its habits with many be taken for ours.
        try (Jvm jvm = Jvm.on(jdk, folder).through("env", "MALLOC_ARENA_MAX=1")
                .switches("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch", "-XX:NativeMemoryTracking=summary")
                .agent("heap=dump,doe=n,file=" + folder.resolve("out.%n.hprof")).run(Million.class).ready()) {
            long before = nativeKilobytes(jvm);
            dump(jvm, 1);
            dump(jvm, 2);
            // By now the allocator has what it needs, and takes no more.
            long residentEarly = residentKilobytes(jvm);
            for (int i = 3; i <= 4; i++) {
                dump(jvm, i);
            }
            long after = nativeKilobytes(jvm);
            long residentLate = residentKilobytes(jvm);
            assertTrue(after - before < SLACK_KB,
                    () -> "native memory in KB: " + before + " before, " + after + " after four dumps");
            assertTrue(residentLate - residentEarly < SLACK_KB,
                    () -> "resident memory in KB: " + residentEarly + " after two dumps, " + residentLate + " after four");
        }
    }

    private void dump(Jvm jvm, int number) throws IOException {
        jvm.signal("QUIT");
        jvm.dumped(number);
        Files.delete(folder.resolve("out." + number + ".hprof"));
        // As in life, there is a collection between dumps: without one their tag maps add up, and malloc keeps holes.
        freeWhatIsDisposedOf(jvm);
    }

    /** HotSpot frees the tag maps of JVMTI environments that were disposed of at its next collection. */
    private static void freeWhatIsDisposedOf(Jvm jvm) {
        jvm.jcmd("GC.run").good();
    }

    private static long nativeKilobytes(Jvm jvm) {
        freeWhatIsDisposedOf(jvm);
        Matcher rows = ROW.matcher(jvm.jcmd("VM.native_memory", "summary").good().out);
        long sum = 0;
        while (rows.find()) {
            sum += NOT_OURS.contains(rows.group(1)) ? 0 : Long.parseLong(rows.group(2));
        }
        assertTrue(sum > 0, "native memory tracking speaks");
        return sum;
    }

    private static long residentKilobytes(Jvm jvm) throws IOException {
        freeWhatIsDisposedOf(jvm);
        List<String> status = Files.readAllLines(Path.of("/proc/" + jvm.pid() + "/status"));
        String line = status.stream().filter(l -> l.startsWith("RssAnon:")).findFirst().orElseThrow();
        return Long.parseLong(line.replaceAll("\\D", ""));
    }
}
