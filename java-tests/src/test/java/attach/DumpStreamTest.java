package attach;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Collector;
import harness.Command;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.NetBeansReader;
import harness.Rows;
import harness.Testimony;
import harness.Tools;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import leaks.Leaks;
import lifecycle.Patient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** A dump goes to another command as it is made, whole or with an exit code that is not 0; the JVM runs on in any case. */
class DumpStreamTest extends CommandTest {
    @TempDir Path folder;

    static List<Jdk> some() {
        return List.of(Jdks.of(8), Jdks.of(17), Jdks.of(25));
    }

    @ParameterizedTest
    @Rows("some")
    void aWholeDumpGoesThroughAPipe(Jdk jdk) throws IOException {
        try (Jvm jvm = Jvm.on(jdk, folder).run(Leaks.class, "listeners").ready()) {
            String said = piped(jvm, "", "gzip > a.hprof.gz", 0);
            assertTrue(said.contains("sent the heap dump: ") && said.contains("standard output: "), said);
            Path dump = folder.resolve("a.hprof.gz");
            assertEquals(Leaks.SESSIONS, new HprofCheck(dump).good().histogram().of("leaks.Leaks$Session"));
            piped(jvm, "--options redact=all", "cat > b.hprof", 0);
            try (NetBeansReader reader = new NetBeansReader(folder.resolve("b.hprof"))) {
                assertEquals(Leaks.SESSIONS, reader.histogram().of("leaks.Leaks$Session"));
            }
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    @Test
    void hotSpotsDumperSendsWhereNothingCanBeForked() throws IOException {
        try (Jvm jvm = Jvm.on(Jdks.of(11), folder).with(Collector.ZGC).run(Patient.class).ready()) {
            String said = piped(jvm, "", "cat > a.hprof", 2);
            assertTrue(said.contains("--stop-the-world"), said);
            assertEquals(0, Files.size(folder.resolve("a.hprof")));
            piped(jvm, "--stop-the-world", "cat > a.hprof", 0);
            new HprofCheck(folder.resolve("a.hprof")).good();
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    @Test
    void aReaderThatEndsOrStallsHarmsNothing() throws IOException {
        Command.run("mkfifo", folder.resolve("go")).good();
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).run(Leaks.class, "listeners").ready()) {
            // In the head, and among the objects.
            for (int bytes : new int[] {1, 300_000}) {
                String said = piped(jvm, "", "head -c " + bytes + " > part", 2);
                assertFalse(said.contains("bytes in"), said);
                assertEquals(bytes, Files.size(folder.resolve("part")));
            }
            String full = "'" + Tools.command() + "' dump " + jvm.pid() + " -o - > /dev/full";
            mustRefuse(Command.run("sh", "-c", full), "as standard output takes no more: No space left on device");
            // It reads nothing before the command has ended.
            String said = piped(jvm, "--options timeout=2", "{ read word < go; cat > part; }", 2);
            assertTrue(said.contains("no dump: "), said);
            piped(jvm, "", "cat > whole", 0);
            new HprofCheck(folder.resolve("whole")).good();
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /** Two at once, as both take their time: one reads nothing for 11 s, the other a little at a time, within `timeout=`. */
    @Test
    void aSlowReaderGetsItsDump() throws IOException {
        Path late = Files.createDirectory(folder.resolve("late"));
        Path slow = Files.createDirectory(folder.resolve("slow"));
        // Some 18 pieces: few programs to start for each sign of life, and longer than the limit in all.
        String little = "while head -c 100000 > bit && [ -s bit ]; do cat bit >> whole; sleep 0.4; done";
        try (Jvm one = Jvm.on(Jdks.of(17), late).run(Leaks.class, "listeners").ready();
                Jvm other = Jvm.on(Jdks.of(25), slow).run(Patient.class).ready()) {
            CompletableFuture<String> second = CompletableFuture.supplyAsync(() -> piped(slow, other, "--options timeout=4", little, 0));
            piped(late, one, "", "{ sleep 11; cat > whole; }", 0);
            second.join();
            new HprofCheck(late.resolve("whole")).good();
            Testimony.of(other).mustHoldIn(slow.resolve("whole"));
            assertEquals(0, one.end(), one.err::text);
            assertEquals(0, other.end(), other.err::text);
        }
    }

    /** The JVM serves attach commands one after the other: a tool that asks whether it lives must not wait for the reader. */
    @ParameterizedTest
    @Rows("some")
    void otherCommandsAreAnsweredWhileTheReaderTakesNothing(Jdk jdk) throws IOException {
        Command.run("mkfifo", folder.resolve("wait")).good();
        String late = "{ read word < wait; cat > whole; }";
        try (Jvm jvm = Jvm.on(jdk, folder).run(Leaks.class, "listeners").ready()) {
            // It is given up long before the other command would be.
            String options = "--options timeout=60";
            CompletableFuture<String> said = CompletableFuture.supplyAsync(() -> piped(jvm, options, late, 0));
            jvm.err.await("hprof-rs: sending the heap dump to ", Jvm.LIMIT);
            jvm.jcmd("VM.version").good();
            Command.run("sh", "-c", "echo word > " + folder.resolve("wait")).good();
            assertTrue(said.join().contains("sent the heap dump: "), said.join());
            new HprofCheck(folder.resolve("whole")).good();
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    @Test
    void whatCannotBeSentIsRefusedByName() throws IOException {
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).run(Patient.class).ready()) {
            String said = piped(jvm, "--options gz=1", "cat > part", 2);
            assertTrue(said.contains("gz=: a compressed dump cannot be sent by hprof dump PID -o -"), said);
            said = piped(jvm, "--options format=a", "cat > part", 2);
            assertTrue(said.contains("format=a: a text dump cannot be sent by hprof dump PID -o -"), said);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /** Pipes the dump through a command of the shell, and returns what `hprof dump` printed; it must end with this code. */
    private String piped(Jvm jvm, String options, String reader, int code) {
        return piped(folder, jvm, options, reader, code);
    }

    private static String piped(Path folder, Jvm jvm, String options, String reader, int code) {
        String dump = "'" + Tools.command() + "' dump " + jvm.pid() + " -o - " + options + " 2> said";
        String go = Files.exists(folder.resolve("go")) && reader.contains("go") ? "; echo word > go" : "";
        String script = "cd " + folder + "; { " + dump + "; echo $? > code" + go + "; } | " + reader;
        Command.run("sh", "-c", script).good();
        String said = text(folder.resolve("said"));
        assertEquals(String.valueOf(code), text(folder.resolve("code")).trim(), said + jvm.err.text());
        return said;
    }

    private static String text(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
