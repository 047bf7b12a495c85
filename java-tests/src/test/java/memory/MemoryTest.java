package memory;

import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Jdk;
import harness.Jvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import million.MillionObjects;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A dump gives back what it took: no tags stay in the JVM, no buffers in the agent. */
class MemoryTest {
    private static final Pattern ROW = Pattern.compile("-\\s+(.+?) \\(reserved=\\d+KB, committed=(\\d+)KB\\)");

    /** What grows for reasons of its own: the heap, its collector's tables, compiled code, thread stacks. */
    private static final Set<String> NOT_OURS = Set.of("Java Heap", "GC", "Code", "Compiler", "Thread", "Arena Chunk", "Shared class space");

    private static final long SLACK_KB = 4 << 10;

    @TempDir Path folder;

    @ParameterizedTest
    @MethodSource("harness.Jdks#majors")
    void isGivenBack(Jdk jdk) throws IOException {
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch", "-XX:NativeMemoryTracking=summary")
                .agent("heap=dump,doe=n,verbose=n,file=" + folder.resolve("out.%n.hprof")).run(MillionObjects.class).ready()) {
            long before = nativeKilobytes(jvm);
            dump(jvm, 1);
            long residentOnce = residentKilobytes(jvm);
            dump(jvm, 2);
            dump(jvm, 3);
            long after = nativeKilobytes(jvm);
            assertTrue(after - before < SLACK_KB, () -> "native memory in KB: " + before + " before, " + after + " after three dumps");
            dump(jvm, 4);
            dump(jvm, 5);
            long residentLast = residentKilobytes(jvm);
            assertTrue(residentLast - residentOnce < 16 << 10,
                    () -> "resident memory in KB: " + residentOnce + " after one dump, " + residentLast + " after five");
        }
    }

    private void dump(Jvm jvm, int number) throws IOException {
        jvm.signal("QUIT");
        jvm.dumped(number);
        Files.delete(folder.resolve("out." + number + ".hprof"));
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
