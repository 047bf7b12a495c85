package threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Engine;
import harness.Javac;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.NetBeansReader;
import harness.Rows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** Virtual threads that are being mounted or unmounted have the frames of their only path, and no local stands in another frame. */
class YieldingTest {
    /** Stacks of threads that a carrier has, and the most dumps that may be made for so many. */
    private static final int MOUNTED = 4;
    private static final int MOST_DUMPS = 60;
    private static final String SUBJECT = "threads.Yielding";
    private static final String MARKER = SUBJECT + "$Marker";
    private static final List<String> PATH = List.of("inner", "middle", "lambda$outer$0", "run", "outer", "run");

    @TempDir Path folder;

    static Stream<Jdk> since21() {
        return Stream.of(21, 25).map(Jdks::of);
    }

    @ParameterizedTest
    @Rows("since21")
    void stacksAreThoseOfTheOnlyPath(Jdk jdk) throws IOException {
        Assumptions.assumeTrue(jdk.processor().equals("amd64"), "the agent reads no compiled frames of this processor");
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-Djdk.virtualThreadScheduler.parallelism=4")
                .agent("heap=dump,doe=n,file=" + folder.resolve("out.hprof"))
                .classPath(Javac.subjects(21)).run(SUBJECT).ready()) {
            List<String> wrong = new ArrayList<>();
            int mounted = 0;
            for (int dump = 1; mounted < MOUNTED && dump <= MOST_DUMPS; dump++) {
                jvm.signal("QUIT");
                String line = jvm.dumped(dump);
                assertTrue(Engine.isSnapshot(line), line);
                jvm.standStill();
                Path file = Path.of(line.replaceAll(".*dumped |: \\d+ bytes.*", ""));
                try (NetBeansReader reader = new NetBeansReader(file)) {
                    for (String thread : reader.threads().keySet()) {
                        if (thread.startsWith("yielding-")) {
                            mounted += check(reader, thread, wrong) ? 1 : 0;
                        }
                    }
                }
                Files.delete(file);
                jvm.goOn();
            }
            assertTrue(wrong.isEmpty(), () -> wrong.size() + " wrong stacks, such as " + wrong.get(0));
            assertTrue(mounted >= MOUNTED, "only " + mounted + " stacks of mounted threads");
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /** Whether a carrier has the thread: it does not stand where a continuation ends its work. */
    private static boolean check(NetBeansReader reader, String thread, List<String> wrong) {
        List<StackTraceElement> stack = reader.threads().get(thread);
        int[] own = IntStream.range(0, stack.size()).filter(i -> stack.get(i).getClassName().startsWith(SUBJECT)).toArray();
        List<String> path = IntStream.of(own).mapToObj(i -> stack.get(i).getMethodName()).collect(Collectors.toList());
        boolean isTogether = own.length > 0 && own[own.length - 1] - own[0] == own.length - 1;
        boolean isNamed = stack.stream().noneMatch(frame -> frame.getMethodName().equals("<unknown>"));
        boolean begins = stack.stream().filter(frame -> isStart(frame)).count() == 1
                && stack.stream().skip(own.length > 0 ? own[0] : 0).anyMatch(frame -> isStart(frame));
        if (!path.equals(PATH) || !isTogether || !isNamed || !begins) {
            wrong.add(thread + ": " + stack);
        }
        for (int i = 0; i < stack.size(); i++) {
            if (!stack.get(i).getMethodName().equals("middle") && reader.locals(thread, i).contains(MARKER)) {
                wrong.add(thread + ": a local of middle is in frame " + i + " of " + stack);
            }
        }
        return !stack.get(0).getClassName().equals("jdk.internal.vm.Continuation");
    }

    private static boolean isStart(StackTraceElement frame) {
        return frame.getClassName().equals("java.lang.VirtualThread") && frame.getMethodName().equals("run");
    }
}
