package cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.CpuStacks;
import harness.Javac;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * cpu=samples and the JDK's own profiler (JFR) in one JVM at once. JFR stops threads by a signal, and ours may fall into its handler:
 * a stack from there would lack the methods that run. Such samples count as lost, and all others are right.
 */
@Isolated("compares shares of processor time")
class AtOnceTest {
    /** A share may be so far from what the program itself has measured. */
    private static final double POINTS = 5;
    /**
     * It is some hundredths; the more, the longer JFR's own thread is kept from letting go of the others. None of them at all is chance
     * as well: the system's clock, by which ours are taken, and the recorder's may be so far apart that they never meet.
     */
    private static final double MOST_LOST = 0.25;
    /** HotSpot ends some stacks early, of itself and without a word, most of them while methods are linked. */
    private static final double MOST_ENDED_EARLY = 0.01;
    private static final int DEPTH = 64;
    private static final String TENTHS = "40";
    /** The whole of it, so that other words for what is lost are not taken for no loss. */
    private static final Pattern SUMMARY = Pattern.compile("CPU samples of \\d+ stacks(?:, (\\d+) lost \\([^)]*\\))?, every 1 ms of CPU time");

    /** Who may have called the program's methods. */
    private static final Map<String, Set<String>> CALLERS = Map.of(
            "cpu.Mix.step", Set.of("cpu.Mix.large", "cpu.Mix.medium", "cpu.Mix.small", "cpu.Mix.spin"),
            "cpu.Mix.large", Set.of("cpu.Mix.work"),
            "cpu.Mix.medium", Set.of("cpu.Mix.work"),
            "cpu.Mix.small", Set.of("cpu.Mix.work"),
            "cpu.Mix.calibrate", Set.of("cpu.Mix.work"),
            "cpu.Mix.spin", Set.of("cpu.Mix.calibrate"),
            "cpu.Mix.work", Set.of("cpu.Recorded.main"),
            "cpu.Mix.<clinit>", Set.of("cpu.Recorded.main"),
            "cpu.Recorded.top", Set.of("cpu.Recorded.main"),
            "cpu.Recorded.main", Set.of());
    /** These call {@code step} or nothing; what they call in native code is HotSpot's, at safepoints. */
    private static final Set<String> INNERMOST =
            Set.of("cpu.Mix.step", "cpu.Mix.large", "cpu.Mix.medium", "cpu.Mix.small", "cpu.Mix.spin");
    /** The main method, threads, and what HotSpot itself calls before a thread's first method and after its last. */
    private static final Pattern OUTERMOST =
            Pattern.compile("cpu\\.Recorded\\.main|.*\\.run|sun\\.launcher\\..*|java\\.lang\\.(Thread|Shutdown)\\..*");
    /** HotSpot's handler, and what that waits in. */
    private static final Pattern HANDLER = Pattern.compile(".*\\.(SR_handler|PosixSignals::do_suspend|.*sigsuspend)");

    @TempDir Path folder;

    static List<Jdk> jdks() {
        return List.of(Jdks.of(17), Jdks.of(21), Jdks.of(25));
    }

    @ParameterizedTest
    @Rows("jdks")
    void noStackIsWrong(Jdk jdk) {
        Path report = folder.resolve("cpu.txt");
        try (Jvm jvm = Jvm.on(jdk, folder).agent("cpu=samples,interval=1,cutoff=0,depth=" + DEPTH + ",file=" + report)
                .classPath(Javac.subjects(17)).run("cpu.Recorded", TENTHS).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(sum(jvm.out.numbers("SEEN")) > 20, jvm.out::text);
            CpuStacks stacks = new CpuStacks(report);
            stacks.all().forEach(AtOnceTest::mustBePossible);
            long endedEarly = stacks.of(stack -> !isWhole(stack));
            assertTrue(endedEarly < MOST_ENDED_EARLY * stacks.total(), () -> endedEarly + " of " + stacks);
            sharesAreRight(jvm.out.numbers("TOOK"), stacks);
            Matcher summary = SUMMARY.matcher(jvm.err.text());
            assertTrue(summary.find(), jvm.err::text);
            long lost = summary.group(1) == null ? 0 : Long.parseLong(summary.group(1));
            assertTrue(lost < MOST_LOST * stacks.total(), jvm.err::text);
        }
    }

    private static boolean isWhole(List<String> stack) {
        return stack.size() == DEPTH || OUTERMOST.matcher(stack.get(0)).matches();
    }

    private static void mustBePossible(List<String> stack) {
        for (int i = 0; i < stack.size(); i++) {
            String method = stack.get(i);
            Set<String> callers = CALLERS.get(method);
            boolean isFirst = i == 0;
            // Where the outermost should be another, the stack is not whole: so few are that.
            assertTrue(callers == null || isFirst || callers.contains(stack.get(i - 1)), stack::toString);
            assertTrue(isFirst || !INNERMOST.contains(stack.get(i - 1)) || method.equals("cpu.Mix.step"), stack::toString);
            assertTrue(!HANDLER.matcher(method).matches(), stack::toString);
        }
    }

    private static void sharesAreRight(Map<String, Long> took, CpuStacks stacks) {
        Map<String, Long> seen = new HashMap<>();
        took.keySet().forEach(method -> seen.put(method, stacks.in(method)));
        took.forEach((method, ns) -> assertEquals(100.0 * ns / sum(took), 100.0 * seen.get(method) / sum(seen), POINTS, method + " " + seen));
    }

    private static long sum(Map<String, Long> parts) {
        return parts.values().stream().mapToLong(Long::longValue).sum();
    }
}
