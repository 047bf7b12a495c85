package threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import harness.Command;
import harness.Engine;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.NetBeansReader;
import harness.Rows;
import harness.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;

/** Threads that run while the dump is made have their frames of that moment, and all of them have names. */
class RunningTest {
    private static final int DUMPS = 2;
    private static final String SUBJECT = Running.class.getName();

    @TempDir Path folder;

    /** Each JDK with both compilers, and with the simple one alone. */
    static List<Arguments> compilers() {
        List<Arguments> compilers = new ArrayList<>();
        for (Jdk jdk : Jdks.majors()) {
            Stream.of(4, 1).forEach(tier -> compilers.add(Arguments.of(jdk, "-XX:TieredStopAtLevel=" + tier)));
        }
        return compilers;
    }

    @ParameterizedTest
    @Rows("compilers")
    void framesAreThoseOfOneMoment(Jdk jdk, String compiler) throws IOException {
        List<String> source = Files.readAllLines(Path.of("src/test/java/threads/Running.java"));
        try (Jvm jvm = Jvm.on(jdk, folder).switches(compiler).switches(Running.SWITCHES)
                .agent("heap=dump,doe=n,file=" + folder.resolve("out.hprof")).run(Running.class).ready()) {
            List<String> wrong = new ArrayList<>();
            for (int dump = 1; dump <= DUMPS; dump++) {
                jvm.signal("QUIT");
                String line = jvm.dumped(dump);
                assertTrue(Engine.isSnapshot(line), line);
                jvm.standStill();
                Path file = Path.of(line.replaceAll(".*dumped |: \\d+ bytes.*", ""));
                checkNativeCode(file, wrong);
                try (NetBeansReader reader = new NetBeansReader(file)) {
                    reader.threads().forEach((thread, stack) -> check(thread, stack, source, wrong));
                }
                jvm.goOn();
            }
            assertTrue(wrong.isEmpty(), () -> wrong.size() + " wrong frames, such as " + wrong.get(0));
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /** Only native methods have local references of native code: constants of compiled code are none. */
    private static void checkNativeCode(Path dump, List<String> wrong) {
        JsonElement threads = JsonParser.parseString(Command.run(Tools.command(), "threads", "--json", dump).good().out);
        for (JsonElement thread : threads.getAsJsonObject().getAsJsonArray("threads")) {
            for (JsonElement frame : thread.getAsJsonObject().getAsJsonArray("frames")) {
                String at = frame.getAsJsonObject().get("at").getAsString();
                for (JsonElement local : frame.getAsJsonObject().getAsJsonArray("locals")) {
                    String kind = local.getAsJsonObject().get("kind").getAsString();
                    if (kind.equals("ROOT JNI LOCAL") && !at.endsWith("(Native Method)")) {
                        wrong.add("native code has " + local + " in " + at);
                    }
                }
            }
        }
    }

    /** Each frame has a name, and the line of each caller calls what is above it. */
    private static void check(String thread, List<StackTraceElement> stack, List<String> source, List<String> wrong) {
        for (int i = 0; i < stack.size(); i++) {
            StackTraceElement frame = stack.get(i);
            if (frame.getMethodName().equals("<unknown>")) {
                wrong.add(frame + " of " + thread + " in " + stack);
            }
            StackTraceElement caller = i + 1 < stack.size() ? stack.get(i + 1) : null;
            if (caller != null && frame.getClassName().equals(SUBJECT) && caller.getClassName().equals(SUBJECT)) {
                int line = caller.getLineNumber();
                if (line < 1 || !source.get(line - 1).contains(frame.getMethodName() + "(")) {
                    wrong.add(caller + " does not call " + frame + " of " + thread + " in " + stack);
                }
            }
        }
        if (thread.startsWith("running-") && !stack.get(stack.size() - 1).toString().startsWith("java.lang.Thread.run(")) {
            wrong.add("the first frame of " + thread + " in " + stack);
        }
    }
}
