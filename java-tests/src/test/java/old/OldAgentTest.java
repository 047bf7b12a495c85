package old;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What docs/classic-profiles.md lists about the two agents, each beside the other on Java 8, which has both. */
class OldAgentTest {
    @TempDir Path folder;
    private int runs;

    /** The end of a program under one of the agents, and the files it left. */
    private static final class Run {
        int exit;
        String err;
        final Map<String, byte[]> files = new TreeMap<>();

        String text(String file) {
            return new String(files.get(file), StandardCharsets.ISO_8859_1);
        }
    }

    @Test
    void formatsAndNames() {
        Run old = old("heap=dump");
        assertTrue(old.text("java.hprof.txt").startsWith("JAVA PROFILE 1.0.1, created "));
        Run ours = ours("heap=dump");
        assertTrue(ours.text("java.hprof").startsWith("JAVA PROFILE 1.0.2\0"));
        assertTrue(ours("heap=dump,format=a").text("java.hprof.txt").startsWith("JAVA PROFILE 1.0.1, created "));
        old = old("heap=dump,format=b");
        assertTrue(old.text("java.hprof").contains("old.Allocating$Thing"));
        assertTrue(ours.text("java.hprof").contains("old/Allocating$Thing"));
        assertEquals(Set.of("a%p.hprof"), old("heap=dump,file=a%p.hprof").files.keySet());
        assertTrue(ours("heap=dump,file=a%p.hprof").files.keySet().iterator().next().matches("a\\d+\\.hprof"));
        assertTrue(old("cpu=samples,file=a.hprof").text("a.hprof").startsWith("JAVA PROFILE 1.0.1, created "), "text by any name");
        assertTrue(ours("cpu=samples,file=a.hprof").text("a.hprof").startsWith("JAVA PROFILE 1.0.2\0"), "binary by its name");
    }

    /** Modes of files, under the same umask. */
    @Test
    void modes() throws IOException {
        assertEquals("rw-r--r--", mode(old("cpu=samples")));
        assertEquals("rw-------", mode(ours("cpu=samples")));
    }

    @Test
    void sitesCountEveryAllocation() {
        // The class itself counts as one of its objects.
        assertEquals(Allocating.KEPT + 1, allocated(old("heap=sites").text("java.hprof.txt")));
        assertEquals(Allocating.KEPT, allocated(ours("heap=sites").text("java.hprof.txt")));
    }

    @Test
    void reports() {
        String both = old("cpu=samples,cpu=times,cutoff=0").text("java.hprof.txt");
        assertEquals(2, count(both, "CPU SAMPLES BEGIN"));
        assertEquals(0, count(both, "CPU TIME (ms) BEGIN"));
        both = ours("cpu=samples,cpu=times,cutoff=0").text("java.hprof.txt");
        assertEquals(1, count(both, "CPU SAMPLES BEGIN"));
        assertEquals(1, count(both, "CPU TIME (ms) BEGIN"));
        assertEquals(0, count(old("monitor=y").text("java.hprof.txt"), "MONITOR TIME BEGIN"));
        assertEquals(1, count(ours("monitor=y").text("java.hprof.txt"), "MONITOR TIME BEGIN"));
        assertTrue(count(old("cpu=times,depth=3,cutoff=0").text("java.hprof.txt"), ":Unknown line)") > 0);
    }

    @Test
    void silence() {
        assertEquals("", old("cpu=samples,verbose=n").err);
        assertEquals("", ours("cpu=samples,verbose=n").err);
        assertEquals(Set.of("java.hprof.txt"), old("cpu=samples,doe=n").files.keySet());
        assertEquals(Set.of(), ours("cpu=samples,doe=n").files.keySet());
    }

    @Test
    void refusals() {
        for (String option : new String[] {"logflags=1", "debugflags=0", "coredump=n", "errorexit=n", "debug=n", "X=0"}) {
            assertEquals(0, old("cpu=samples," + option).exit, option);
            refused(ours("cpu=samples," + option), option + ": it debugged the JDK's own agent");
        }
        assertEquals(0, old("cpu=samples,depth=0").exit);
        refused(ours("cpu=samples,depth=0"), "depth=0: ");
        assertEquals(1, old("foo=bar").exit);
        refused(ours("foo=bar"), "foo=bar: there is no option foo; docs/options.md lists them");
    }

    /** Where the JDK's agent does not let the JVM start, ours prints that there will be nothing. */
    @Test
    void nowhereToWrite() {
        for (String place : new String[] {"file=/nonexistent/x.txt", "net=127.0.0.1:1"}) {
            assertEquals(1, old("cpu=samples," + place).exit, place);
            Run ours = ours("cpu=samples," + place);
            assertEquals(0, ours.exit, ours.err);
            assertTrue(ours.err.contains("there will be no "), ours.err);
        }
    }

    @Test
    void filesThatAreThere() throws IOException {
        for (String agent : new String[] {"-agentlib:hprof=", null}) {
            Path place = Files.createDirectory(folder.resolve("there" + runs++));
            Files.write(place.resolve("a.txt"), new byte[] {'x'});
            Run run = run(agent, "cpu=samples,file=a.txt,force=n", place);
            assertEquals("x", run.text("a.txt"));
            assertTrue(run.files.keySet().stream().anyMatch(name -> name.matches("a\\.\\d+\\.txt")), run.files::toString);
        }
    }

    /** The JDK's agent appends to its file, ours leaves what is written. */
    @Test
    void signals() throws IOException {
        Path place = Files.createDirectory(folder.resolve("old"));
        try (Jvm jvm = launch("-agentlib:hprof=", "cpu=samples,file=a.txt", place).run(Allocating.class).ready()) {
            for (int i = 1; i <= 2; i++) {
                jvm.signal("QUIT");
                jvm.err.await(i, "the end of a report", line -> line.contains(" done."), Jvm.LIMIT);
            }
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        Run run = left(place);
        assertEquals(Set.of("a.txt"), run.files.keySet());
        assertEquals(3, count(run.text("a.txt"), "CPU SAMPLES BEGIN"));
        place = Files.createDirectory(folder.resolve("ours"));
        try (Jvm jvm = launch(null, "cpu=samples,file=a.txt", place).run(Allocating.class).ready()) {
            for (int i = 1; i <= 2; i++) {
                jvm.signal("QUIT");
                jvm.err.await(i, "the end of a report", line -> line.contains("hprof-rs: wrote "), Jvm.LIMIT);
            }
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        assertEquals(Set.of("a.txt", "a.1.txt", "a.2.txt"), left(place).files.keySet());
    }

    private Run old(String options) {
        return run("-agentlib:hprof=", options, place());
    }

    private Run ours(String options) {
        return run(null, options, place());
    }

    private Path place() {
        try {
            return Files.createDirectory(folder.resolve("run" + runs++));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Launch launch(String oldAgent, String options, Path place) {
        Launch launch = Jvm.on(Jdks.of(8), place).through("sh", "-c", "umask 022; exec \"$@\"", "sh");
        return oldAgent == null ? launch.agent(options) : launch.switches(oldAgent + options);
    }

    private static Run run(String oldAgent, String options, Path place) {
        try (Jvm jvm = launch(oldAgent, options, place).run(Allocating.class, "end")) {
            int exit = jvm.exit();
            Run run = left(place);
            run.exit = exit;
            run.err = jvm.err.text();
            return run;
        }
    }

    private static Run left(Path place) {
        Run run = new Run();
        try (Stream<Path> files = Files.list(place)) {
            for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                run.files.put(file.getFileName().toString(), Files.readAllBytes(file));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return run;
    }

    private String mode(Run run) throws IOException {
        assertEquals(Set.of("java.hprof.txt"), run.files.keySet());
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("run" + (runs - 1) + "/java.hprof.txt")));
    }

    private static void refused(Run run, String why) {
        assertEquals(1, run.exit, run.err);
        assertTrue(run.err.contains("hprof-rs: " + why), run.err);
        assertEquals(Set.of(), run.files.keySet());
    }

    /** Objects of the subject's class in the column of all that were allocated. */
    private static int allocated(String report) {
        Matcher row = Pattern.compile("(?m)^ +\\d+ +\\S+% +\\S+% +\\d+ +\\d+ +\\d+ +(\\d+) +\\d+ old\\.Allocating\\$Thing$").matcher(report);
        int objects = 0;
        while (row.find()) {
            objects += Integer.parseInt(row.group(1));
        }
        return objects;
    }

    private static int count(String text, String words) {
        return text.split(Pattern.quote(words), -1).length - 1;
    }
}
