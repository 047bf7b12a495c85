package rewriting;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.Rows;
import harness.SiteList;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** Rewritten classes never ask their loader for anything, even one that runs them to answer; and what they do is counted. */
class LoadersTest {
    @TempDir Path folder;

    static List<Jdk> jdks() {
        return Jdks.since(8);
    }

    @ParameterizedTest
    @Rows("jdks")
    void aLoaderIsAskedForNothingMore(Jdk jdk) throws IOException {
        List<String> expected = run(on(jdk));
        assertTrue(expected.stream().filter(line -> line.startsWith("ASKED ")).count() == 2, expected::toString);

        Path times = folder.resolve("times.txt");
        Launch timed = on(jdk).switches("-Xverify:all");
        assertEquals(expected, run(timed.agent("cpu=times,cutoff=0,file=" + times)));
        String halves = " rewriting.Looping$ListHelper.half";
        long calls = Files.readAllLines(times).stream().filter(line -> line.endsWith(halves))
                .mapToLong(line -> Long.parseLong(line.trim().split(" +")[3])).sum();
        assertEquals(Looping.ROUNDS, calls, "calls");

        Path sites = folder.resolve("sites.hprof");
        Launch counted = on(jdk).switches("-Xverify:all");
        assertEquals(expected, run(counted.agent("heap=sites,sampling=0,cutoff=0,file=" + sites)));
        SiteList list = new SiteList(sites, "sites");
        for (String type : List.of("boolean[]", "rewriting.Looping$ListHelper[]", "rewriting.Looping$ListHelper[][]",
                "java.lang.String[][]")) {
            assertEquals(Looping.ROUNDS, made(list, type), type);
        }
        assertEquals(2 * Looping.ROUNDS, made(list, "java.lang.String[]"), "inner arrays");
    }

    /** Loaded classes are changed together, since each change stops the application: one that cannot be is found by halves. */
    @Test
    void aClassThatHasFailedKeepsNoOtherFromBeingChanged() throws IOException {
        Path log = folder.resolve("safepoints.log");
        run(on(Jdks.of(25)).switches("-Xlog:safepoint=info:file=" + log)
                .agent("cpu=times,file=" + folder.resolve("times.txt")));
        long stops = Files.readAllLines(log).stream().filter(line -> line.contains("\"RedefineClasses\"")).count();
        assertTrue(stops > 2 && stops < 50, () -> stops + " stops for the classes to be changed");
    }

    private static long made(SiteList list, String type) {
        return list.sites.stream().filter(site -> site.className.equals(type) && !site.frames.isEmpty()
                && site.frames.get(0).startsWith("rewriting.Looping$ListHelper.work("))
                .mapToLong(site -> site.allocatedObjects).sum();
    }

    /** With the other agent before ours, so that its classes are loaded when ours starts. */
    private Launch on(Jdk jdk) throws IOException {
        Path jar = folder.resolve("agent.jar");
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().putValue("Manifest-Version", "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", Looping.class.getName());
        new JarOutputStream(Files.newOutputStream(jar), manifest).close();
        return Jvm.on(jdk, folder).switches("-javaagent:" + jar);
    }

    private static List<String> run(Launch launch) {
        try (Jvm jvm = launch.run(Looping.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            return jvm.out.lines().stream().map(LoadersTest::inOrder).collect(Collectors.toList());
        }
    }

    /** The order in which names are asked for is the verifier's, which sees other code where there is an agent. */
    private static String inOrder(String line) {
        if (!line.startsWith("ASKED [")) {
            return line;
        }
        String names = line.substring("ASKED [".length(), line.length() - 1);
        return "ASKED " + Stream.of(names.split(", ")).sorted().collect(Collectors.toList());
    }
}
