package threads;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Folder;
import harness.Javac;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.NetBeansReader;
import harness.Rows;
import harness.SharkReader;
import harness.Testimony;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** Threads, their stacks and what their local variables hold are in the dump. */
class ThreadsTest {
    @TempDir Path folder;

    @ParameterizedTest
    @Rows("harness.Jdks#majors")
    void stacksAreThoseTheProgramSees(Jdk jdk) {
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=dump,doe=n,file=" + folder.resolve("out.hprof"))
                .run(Workers.class).ready()) {
            jvm.signal("QUIT");
            Path dump = new Folder(folder).await("out.hprof", Jvm.LIMIT);
            Testimony testimony = Testimony.of(jvm);
            assertEquals(0, jvm.end(), jvm.err::text);
            testimony.mustHoldIn(dump);
            compareStacks(testimony, dump);
        }
    }

    @ParameterizedTest
    @Rows("harness.Jdks#majors")
    void localsAreThereAtTheEnd(Jdk jdk) {
        Path dump = folder.resolve("out.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).dumpTo(dump).run(Standing.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            Testimony.of(jvm).mustHoldIn(dump);
            try (NetBeansReader netBeans = new NetBeansReader(dump)) {
                mustHold(netBeans, "standing", "threads.Standing", "stand", "threads.Standing$Local");
            }
        }
    }

    private static void compareStacks(Testimony testimony, Path dump) {
        List<Executable> checks = new ArrayList<>();
        List<String> wrong = new ArrayList<>();
        try (NetBeansReader netBeans = new NetBeansReader(dump); SharkReader shark = new SharkReader(dump)) {
            Map<String, List<StackTraceElement>> stacks = netBeans.threads();
            Set<String> roots = new HashSet<>(shark.threads());
            for (String[] line : testimony.all("THREAD")) {
                String name = line[1];
                String stack = written(stacks.get(name));
                if (!stack.equals(line[2])) {
                    wrong.add(name + ":\n  " + line[2] + " in the program\n  " + stack + " in the dump");
                }
                checks.add(() -> assertTrue(roots.contains(name), () -> "Shark: no root for " + name));
            }
            for (String name : List.of("worker-0", "worker-8", "worker-199")) {
                List<StackTraceElement> stack = stacks.get(name);
                int frame = stack.stream().map(StackTraceElement::getMethodName).collect(Collectors.toList()).indexOf("stand");
                Set<String> locals = netBeans.locals(name, frame);
                checks.add(() -> assertTrue(locals.contains("threads.Workers$Local"), () -> name + ": locals of stand: " + locals));
            }
            assertTrue(stacks.containsKey("main"), "the main thread");
            assertTrue(wrong.isEmpty(), () -> wrong.size() + " wrong stacks, such as " + wrong.get(0));
            assertAll(checks);
        }
    }

    private static String written(List<StackTraceElement> stack) {
        // Since Java 21 JVMTI shows a frame that Thread.getStackTrace hides.
        return stack == null ? "no thread" : stack.stream().filter(frame -> !frame.getMethodName().equals("runWith"))
                .map(frame -> frame.getClassName() + "." + frame.getMethodName() + ":" + frame.getLineNumber())
                .collect(Collectors.joining(";"));
    }

    static List<Jdk> since21() {
        return Jdks.since(21);
    }

    @ParameterizedTest
    @Rows("since21")
    void virtualThreadsHaveStacksAndLocals(Jdk jdk) {
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=dump,doe=n,file=" + folder.resolve("out.hprof"))
                .classPath(Javac.subjects(21)).run("threads.Virtual").ready()) {
            jvm.signal("QUIT");
            Path dump = new Folder(folder).await("out.hprof", Jvm.LIMIT);
            assertEquals(0, jvm.end(), jvm.err::text);
            Testimony.of(jvm).mustHoldIn(dump);
            try (NetBeansReader netBeans = new NetBeansReader(dump)) {
                // Parked ones are off any carrier, the busy one holds its own.
                for (String name : List.of("virtual-false-0", "virtual-false-499", "virtual-true-0")) {
                    mustHold(netBeans, name, "threads.Virtual$Task", "run", "threads.Virtual$Task");
                }
            }
        }
    }

    /** The thread stands in this method of this class, in a frame with a local variable of this other class. */
    private static void mustHold(NetBeansReader dump, String thread, String type, String method, String local) {
        List<StackTraceElement> stack = dump.threads().get(thread);
        assertTrue(stack != null, () -> "no thread " + thread + " among " + dump.threads().keySet());
        List<String> frames = stack.stream().map(frame -> frame.getClassName() + "." + frame.getMethodName()).collect(Collectors.toList());
        int frame = frames.indexOf(type + "." + method);
        assertTrue(frame >= 0, () -> thread + " is not in " + method + ": " + frames);
        Set<String> locals = dump.locals(thread, frame);
        assertTrue(locals.contains(local), () -> thread + ": locals of " + method + ": " + locals);
    }
}
