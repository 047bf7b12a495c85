package cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.CpuStacks;
import harness.HprofCheck;
import harness.InTurn;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;

/** cpu=samples: a native function that runs is named, on top of the Java method that is on its way in it. */
@Isolated("measures shares of processor time")
public class NativeFramesTest {
    private static final String ADLER = "java.util.zip.Adler32.updateBytes";
    private static final String DEFLATE = "java.util.zip.Deflater.deflateBytes";
    /** Where the library was not there when the agent last looked, the first samples have no name. */
    private static final double NAMED = 0.8;
    private static final int DEPTH = 3;
    private static final String TENTHS = "15";

    @TempDir Path folder;

    static List<Jdk> majors() {
        return Jdks.majors();
    }

    /**
     * Some have a zlib of their own in libzip.so, with the names of functions that it does not export: Temurin 17, 21 and 25.
     * Temurin 11 and Debian's use the system's, which names no others.
     */
    public static List<Jdk> withTheirOwnZlib() {
        List<Jdk> found = Jdks.all().stream().filter(Jdk::hasItsOwnZlib).collect(Collectors.toList());
        assertTrue(found.stream().anyMatch(jdk -> jdk.major >= 17), "no Java has a zlib of its own");
        return found;
    }

    /** zlib exports this one, so the system's has its name, too. */
    @InTurn("heapDumpsHaveTheirJavaMethods")
    @ParameterizedTest
    @Rows("majors")
    void anExportedFunctionStandsOnItsJavaMethod(Jdk jdk) {
        CpuStacks stacks = samples(jdk, "", "cpu.txt");
        long inSum = stacks.in(ADLER);
        long named = stacks.of(stack -> isOn(stack, ADLER, "lib(zip|z)\\.so.*\\.adler32\\w*"));
        assertTrue(inSum > 0.1 * stacks.total() && named > NAMED * inSum, stacks::toString);
        nativeFramesAreOnTop(stacks);
    }

    @InTurn("heapDumpsHaveTheirJavaMethods")
    @ParameterizedTest
    @Rows("withTheirOwnZlib")
    void aFunctionOfTheLibrarysOwnStandsOnItsJavaMethod(Jdk jdk) {
        CpuStacks stacks = samples(jdk, "", "cpu.txt");
        long inDeflate = stacks.of(stack -> stack.stream().anyMatch(frame -> frame.startsWith(DEFLATE)));
        long named = stacks.of(stack -> isOn(stack, DEFLATE, "libzip\\.so\\.\\w+"));
        assertTrue(inDeflate > 0.1 * stacks.total() && named > NAMED * inDeflate, stacks::toString);
        assertTrue(stacks.of(stack -> isOn(stack, DEFLATE, "libzip\\.so\\.longest_match")) > 0.5 * inDeflate, stacks::toString);
        List<String> widest = stacks.widest();
        assertTrue(widest.get(widest.size() - 1).startsWith("libzip.so."), widest::toString);
    }

    @InTurn("heapDumpsHaveTheirJavaMethods")
    @Test
    void binaryReportsHaveThemToo() {
        CpuStacks stacks = samples(Jdks.of(21), ",format=b", "cpu.hprof");
        assertTrue(stacks.of(stack -> isOn(stack, ADLER, "lib(zip|z)\\.so.*\\.adler32\\w*")) > 0.1 * stacks.total(), stacks::toString);
        new HprofCheck(folder.resolve("cpu.hprof")).good();
    }

    /** The classes of a heap dump are those that the JVM has, and so are its stacks. */
    @Test
    void heapDumpsHaveTheirJavaMethods() {
        CpuStacks stacks = samples(Jdks.of(21), ",heap=dump", "heap.hprof");
        assertTrue(stacks.in(ADLER) > 0.1 * stacks.total(), stacks::toString);
        assertTrue(stacks.all().stream().flatMap(List::stream).noneMatch(CpuStacks::isNative), stacks::toString);
        new HprofCheck(folder.resolve("heap.hprof")).good();
    }

    /** Adler32 is otherwise compiled into a stub of the JVM's, which is no native function. */
    private CpuStacks samples(Jdk jdk, String options, String file) {
        Path report = folder.resolve(file);
        try (Jvm jvm = Jvm.on(jdk, folder)
                .switches("-XX:+IgnoreUnrecognizedVMOptions", "-XX:+UnlockDiagnosticVMOptions", "-XX:-UseAdler32Intrinsics")
                .agent("cpu=samples,interval=1,cutoff=0,depth=" + DEPTH + options + ",file=" + report)
                .run(Compressing.class, TENTHS).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        return new CpuStacks(report);
    }

    /** Whether such a native function is on top of a stack and a Java method of this name beneath it. */
    private static boolean isOn(List<String> stack, String method, String function) {
        int top = stack.size() - 1;
        return top > 0 && stack.get(top).matches(function) && stack.get(top - 1).startsWith(method);
    }

    private static void nativeFramesAreOnTop(CpuStacks stacks) {
        for (List<String> stack : stacks.all()) {
            assertTrue(stack.size() <= DEPTH, stack::toString);
            assertTrue(stack.subList(0, stack.size() - 1).stream().noneMatch(CpuStacks::isNative), stack::toString);
        }
    }
}
