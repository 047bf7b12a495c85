package harm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Collector;
import harness.Command;
import harness.Engine;
import harness.Folder;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Tools;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;

/**
 * Where a filter (seccomp) ends the process at system calls that the JVM itself does without, or refuses them, the agent does without
 * them, too: it loses no dump, and never ends the JVM.
 */
class FilterTest {
    private static final int TERMINATED = 128 + 15;
    /** As `~@resources` of systemd has them, and those that belong to them. */
    private static final String RESOURCES = "getpriority,ioprio_set,mbind,migrate_pages,move_pages,sched_getscheduler,sched_setattr,"
            + "sched_setparam,sched_setscheduler,set_mempolicy,setpriority,setrlimit";
    /** What a filter of some age does not know, and what filters rarely allow. */
    private static final String NEW = "close_range,memfd_create,pidfd_open,pidfd_send_signal,process_vm_readv,timer_create,userfaultfd";
    private static final String NO_COPY =
            "engine hotspot, as the forked copy was ended for a system call that this process's seccomp filter does not allow";
    private static final String NO_COMMAND = "cannot be started: the seccomp filter ends this process at pipe2";

    @TempDir Path folder;

    static Stream<Arguments> filters() {
        return Stream.of(
                // Later Javas call flock themselves.
                Arguments.of(Jdks.of(8), "KILL", RESOURCES + ",flock", "leaks"),
                Arguments.of(Jdks.of(17), "KILL", NEW, "memory"),
                Arguments.of(Jdks.of(25), "TRAP", RESOURCES + "," + NEW, "memory"),
                Arguments.of(Jdks.of(25), "EPERM", RESOURCES + "," + NEW, "leaks"));
    }

    @ParameterizedTest
    @Rows("filters")
    void noDumpAndNoAnswerIsLost(Jdk jdk, String action, String calls, String question) {
        String options = "heap=dump,doe=n,file=out.hprof,on=every=1s,cooldown=1s,count=0,do=" + question + "=answer.txt";
        try (Jvm jvm = Jvm.on(jdk, folder).through(filter(), action, calls).switches("-Xmx64m").with(Collector.G1).agent(options)
                .run(OutOfMemory.class, "heap", "main", "forever")) {
            assertTrue(Engine.isSnapshot(jvm.dumped(1)), jvm.err::text);
            jvm.out.await("END", Jvm.LIMIT);
            jvm.signal("QUIT");
            assertTrue(Engine.isSnapshot(jvm.dumped(2)), jvm.err::text);
            Path asked = folder.resolve("asked.hprof");
            Command.run(Tools.command(), "dump", jvm.pid(), "-o", asked).good();
            new Folder(folder).await("answer.txt", Jvm.LIMIT);
            jvm.signal("TERM");
            assertEquals(TERMINATED, jvm.exit(), jvm.err::text);
            assertFalse(jvm.err.text().contains("does not say"), jvm.err::text);
        }
        for (String dump : List.of("out.hprof", "out.1.hprof", "asked.hprof")) {
            new HprofCheck(folder.resolve(dump)).good();
        }
    }

    static Stream<Arguments> zgc() {
        return Stream.of(Arguments.of(Jdks.of(17), "KILL"), Arguments.of(Jdks.of(25), "EPERM"));
    }

    /** As Docker refused them before 23.0: {@code /proc/self/mem} shows what ZGC has, and the pause copies it. */
    @ParameterizedTest
    @Rows("zgc")
    void theHeapOfZgcIsCopiedWithoutThem(Jdk jdk, String action) {
        try (Jvm jvm = Jvm.on(jdk, folder).through(filter(), action, "process_vm_readv,userfaultfd").with(Collector.ZGC)
                .agent("heap=dump,doe=n,file=out.hprof").run(OutOfMemory.class, "none", "main", "forever")) {
            jvm.out.await("END", Jvm.LIMIT);
            jvm.signal("QUIT");
            assertTrue(Engine.isSnapshot(jvm.dumped(1)), jvm.err::text);
            jvm.signal("TERM");
            assertEquals(TERMINATED, jvm.exit(), jvm.err::text);
        }
        new HprofCheck(folder.resolve("out.hprof")).good();
    }

    /** It is known before it is started. */
    @ParameterizedTest
    @Rows("one")
    void aCommandThatCannotBeStartedIsNot(Jdk jdk) {
        try (Jvm jvm = Jvm.on(jdk, folder).through(filter(), "KILL", "pipe2")
                .agent("heap=dump,doe=n,file=out.hprof,on=every=1s,do=leaks=answer.txt").run(OutOfMemory.class, "none", "main", "forever")) {
            jvm.err.await(1, "why there is no answer", line -> line.endsWith(NO_COMMAND), Jvm.LIMIT);
            jvm.signal("QUIT");
            assertTrue(Engine.isSnapshot(jvm.dumped(1)), jvm.err::text);
            jvm.signal("TERM");
            assertEquals(TERMINATED, jvm.exit(), jvm.err::text);
        }
        new HprofCheck(folder.resolve("out.hprof")).good();
    }

    /** Another copy would end in the same way, so there is nothing to try again. */
    @ParameterizedTest
    @Rows("one")
    void hotSpotDumpsWhereEachCopyIsEnded(Jdk jdk) {
        try (Jvm jvm = Jvm.on(jdk, folder).through(filter(), "KILL", "getppid").agent("heap=dump,doe=n,file=out.hprof")
                .run(OutOfMemory.class, "none", "main", "forever")) {
            jvm.out.await("END", Jvm.LIMIT);
            jvm.signal("QUIT");
            assertTrue(jvm.dumped(1).endsWith(NO_COPY + Engine.HOTSPOTS), jvm.err::text);
            jvm.signal("TERM");
            assertEquals(TERMINATED, jvm.exit(), jvm.err::text);
        }
        new HprofCheck(folder.resolve("out.hprof")).good();
    }

    static List<Jdk> one() {
        return List.of(Jdks.of(17));
    }

    private String filter() {
        Path source = Paths.get(System.getProperty("basedir", ""), "src/test/java/harm/filter.c");
        Path filter = folder.resolve("filter");
        Command.run("cc", "-o", filter, source).good();
        return filter.toString();
    }
}
