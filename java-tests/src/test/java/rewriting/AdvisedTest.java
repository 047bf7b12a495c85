package rewriting;

import static org.junit.jupiter.api.Assertions.assertEquals;

import harness.Beside;
import harness.InTurn;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.Rows;
import harness.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;

/** Rewritten classes report beside an agent that changes the method by which they do. */
class AdvisedTest {
    private static final List<String> MODES = List.of("cpu=times,cutoff=0", "heap=sites,sampling=0,cutoff=0");

    @TempDir Path folder;

    static Stream<Arguments> all() {
        return modes(Jdks.since(8));
    }

    static Stream<Arguments> later() {
        return modes(Jdks.since(11));
    }

    private static Stream<Arguments> modes(List<Jdk> jdks) {
        return jdks.stream().flatMap(jdk -> MODES.stream().map(mode -> Arguments.of(jdk, mode)));
    }

    @InTurn("RewritingTest")
    @ParameterizedTest
    @Beside
    @Rows("all")
    void codeOfOthersInWaitIsNotRunByReports(Jdk jdk, String mode) throws IOException {
        Path report = folder.resolve("report.txt");
        try (Jvm plain = beside(Jvm.on(jdk, folder)).run(Advised.class);
                Jvm jvm = beside(ours(jdk, mode, report)).run(Advised.class)) {
            assertEquals(0, plain.exit(), plain.err::text);
            assertEquals(0, jvm.exit(), jvm.err::text);
            assertEquals(plain.out.lines(), jvm.out.lines());
            assertEquals(List.of("WAITS 1", "WAITS 2"), jvm.out.lines().stream().filter(it -> it.startsWith("WAITS")).collect(Collectors.toList()));
        }
        if (mode.startsWith("cpu")) {
            long calls = Files.readAllLines(report).stream().filter(line -> line.endsWith(" rewriting.Advised.half"))
                    .mapToLong(line -> Long.parseLong(line.trim().split(" +")[3])).sum();
            assertEquals(3 * Advised.ROUNDS, calls, "calls");
        }
    }

    @InTurn("RewritingTest")
    @ParameterizedTest
    @Beside
    @Rows("later")
    void mockitoWorks(Jdk jdk, String mode) {
        try (Jvm jvm = beside(ours(jdk, mode, folder.resolve("report.txt"))).run(Mocking.class)) {
            assertEquals(0, jvm.exit(), jvm.err::text);
            assertEquals(List.of("TEA 42 0", "TAX 19", "REAL 4 7"), jvm.out.lines(), jvm.err::text);
        }
    }

    /** HotSpot leaves rewritten classes out of it, and may crash. */
    @InTurn("RewritingTest")
    @Test
    @Beside
    void anArchiveThatIsRecordedIsToldOf() {
        Launch launch = Jvm.on(Jdks.of(25), folder).through("sh", "-c", "ulimit -c 0 && exec \"$@\"", "sh")
                .switches("-XX:AOTMode=record", "-XX:AOTConfiguration=" + folder.resolve("aot.conf"),
                        "-XX:ErrorFile=" + folder.resolve("crash.log"), "-javaagent:" + Tools.jar("byte-buddy-agent-"));
        try (Jvm jvm = launch.classPath(Tools.jar("byte-buddy-1"))
                .agent("cpu=times,file=" + folder.resolve("report.txt")).run(Advised.class)) {
            jvm.exit();
            String start = "hprof-rs: HotSpot records an AOT cache and leaves out ";
            assertEquals(1, jvm.err.lines().stream().filter(line -> line.startsWith(start)).count(), jvm.err::text);
        }
    }

    private Launch ours(Jdk jdk, String mode, Path report) {
        return Jvm.on(jdk, folder).agent(mode + ",format=a,file=" + report);
    }

    /** The other agent is named after ours, so that the JVM asks it later. */
    private static Launch beside(Launch launch) {
        launch.switches("-javaagent:" + Tools.jar("byte-buddy-agent-"), "-Dnet.bytebuddy.experimental=true");
        for (String start : List.of("byte-buddy-1", "mockito-core-", "objenesis-")) {
            launch.classPath(Tools.jar(start));
        }
        return launch;
    }
}
