package streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import harness.Collector;
import harness.Command;
import harness.Folder;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.Rows;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import leaks.Leaks;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** Dumps go to a command or to the reader of a named pipe, whole or with a line that names the failure; the JVM runs on in any case. */
class StreamsTest {
    @TempDir Path folder;

    static List<Jdk> some() {
        return List.of(Jdks.of(8), Jdks.of(17), Jdks.of(25));
    }

    @ParameterizedTest
    @Rows("some")
    void aCommandGetsAWholeDump(Jdk jdk) {
        try (Jvm jvm = jvm(jdk, "exec=gzip > a.%n.hprof.gz")) {
            String line = dump(jvm, "sent the heap dump to exec=gzip > a.1.hprof.gz, which ended with exit code 0: ");
            assertTrue(line.contains("engine snapshot"), line);
            holdsTheLeak("a.1.hprof.gz");
            dump(jvm, "sent the heap dump to exec=gzip > a.2.hprof.gz, which ended with exit code 0: ");
            holdsTheLeak("a.2.hprof.gz");
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    @Test
    void itIsPackedOrTextIfThatIsAskedFor() throws IOException {
        try (Jvm jvm = jvm(Jdks.of(17), "gz=1,exec=cat > a.hprof.gz")) {
            dump(jvm, "sent the heap dump");
            holdsTheLeak("a.hprof.gz");
            assertEquals(0x1F, Files.readAllBytes(folder.resolve("a.hprof.gz"))[0]);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        try (Jvm jvm = jvm(Jdks.of(17), "format=a,exec=cat > a.txt")) {
            dump(jvm, "sent the heap dump");
            String text = new String(Files.readAllBytes(folder.resolve("a.txt")));
            assertTrue(text.startsWith("JAVA PROFILE 1.0.1") && text.trim().endsWith("HEAP DUMP END"));
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    @Test
    void hotSpotsDumperSendsWhereNothingCanBeForked() {
        try (Jvm jvm = Jvm.on(Jdks.of(11), folder).with(Collector.ZGC).agent("heap=dump,doe=n,gz=1,exec=cat > a.hprof.gz")
                .run(Leaks.class, "listeners").ready()) {
            dump(jvm, "sent the heap dump");
            new HprofCheck(folder.resolve("a.hprof.gz")).good();
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    @ParameterizedTest
    @Rows("some")
    void theLastDumpIsWholeBeforeTheJvmEnds(Jdk jdk) {
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=dump,exec=cat > a.hprof").run(Leaks.class, "listeners").ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        holdsTheLeak("a.hprof");
    }

    @Test
    void aCommandThatFailsIsToldOf() {
        try (Jvm jvm = jvm(Jdks.of(17), "exec=cat > a.hprof; exit 42")) {
            String line = dump(jvm, "no dump: ");
            assertTrue(line.contains("received the whole dump and ended with exit code 42"), line);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        try (Jvm jvm = jvm(Jdks.of(17), "exec=no_such_command_is_there")) {
            dump(jvm, "no dump: the command exec=no_such_command_is_there takes no more: ");
            await(jvm, "the command exec=no_such_command_is_there ended with exit code 127 without a whole dump");
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        try (Jvm jvm = jvm(Jdks.of(17), "exec=head -c 300000 > part")) {
            dump(jvm, "no dump: ");
            await(jvm, "the command exec=head -c 300000 > part ended with exit code 0 without a whole dump");
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    @ParameterizedTest
    @Rows("some")
    void aCommandThatStallsOrDripsIsEnded(Jdk jdk) {
        String drips = "while head -c 1000 > part; do sleep 0.2; done";
        for (String options : new String[] {"timeout=2,exec=sleep 1000", "timeout=1,exec=" + drips}) {
            try (Jvm jvm = jvm(jdk, options)) {
                dump(jvm, "no dump: ");
                await(jvm, "was ended, as it would not get a whole dump");
                assertEquals(0, ProcessHandle.of(jvm.pid()).orElseThrow().descendants().count(), jvm.err::text);
                assertEquals(0, jvm.end(), jvm.err::text);
            }
        }
        // It has got everything.
        try (Jvm jvm = jvm(jdk, "timeout=2,exec=cat > /dev/null; sleep 1000")) {
            String line = dump(jvm, "no dump: ");
            assertTrue(line.contains("received the whole dump and still runs after 2 s (timeout=)"), line);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    @ParameterizedTest
    @Rows("some")
    void theReaderOfAPipeGetsAWholeDump(Jdk jdk) {
        Path pipe = folder.resolve("pipe");
        Command.run("mkfifo", pipe).good();
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=dump,doe=n,file=" + pipe).run(Leaks.class, "listeners").ready()) {
            for (String name : List.of("a.hprof", "b.hprof")) {
                jvm.signal("QUIT");
                Command.run("sh", "-c", "cat " + pipe + " > " + folder.resolve(name)).good();
                holdsTheLeak(name);
            }
            jvm.err.await(2, "word of a dump", line -> line.contains("sent the heap dump to " + pipe + ": "), Jvm.LIMIT);
            // It goes away in the middle.
            jvm.signal("QUIT");
            Command.run("sh", "-c", "head -c 300000 " + pipe + " > " + folder.resolve("part")).good();
            await(jvm, "no dump: the reader of the pipe " + pipe + " takes no more: ");
            // There is none.
            jvm.signal("QUIT");
            await(jvm, "no process opened it for 10 s");
            assertFalse(jvm.err.text().contains("there will be no dump"), jvm.err.text());
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /** Who makes a pipe decides who reads it. */
    @Test
    void thePipeOfAnotherUserGetsNothing() {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root can give a pipe to another user");
        Path pipe = folder.resolve("a.hprof");
        Command.run("mkfifo", pipe).good();
        Command.run("chown", "65534", pipe).good();
        String why = "the pipe " + pipe + " cannot be written to: it belongs to user 65534, neither to the JVM's own user nor to root";
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).agent("heap=dump,doe=n,file=" + pipe).run(Leaks.class, "listeners").ready()) {
            await(jvm, "there will be no dump unless this changes: " + why);
            Process thief = started("cat " + pipe + " > stolen");
            dump(jvm, "no dump: " + why);
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(thief.isAlive(), "nobody has opened the pipe for writing");
            thief.destroyForcibly();
        }
    }

    @Test
    void standardOutputIsTheApplications() {
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).agent("heap=dump,file=/dev/stdout").run(Leaks.class, "listeners").ready()) {
            dump(jvm, "no dump: /dev/stdout is not a regular file");
            assertEquals(0, jvm.end(), jvm.err::text);
            assertFalse(jvm.out.text().contains("JAVA PROFILE"));
        }
    }

    /** Who names a container's host runs no command in it, and leaves no folder. */
    @Test
    void theNameOfTheHostIsNoCommand() throws IOException {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root can change the name of a host");
        String[] named = {"unshare", "--uts", "sh", "-c", "printf %s \"$0\" > /proc/sys/kernel/hostname; exec \"$@\"", "a;touch owned;/../b"};
        String plain = "a_touch_owned__.._b";
        for (String option : List.of("exec=cat > %h.hprof", "file=" + folder + "/%h.hprof")) {
            Launch launch = Jvm.on(Jdks.of(17), folder).agent("heap=dump,doe=n," + option).through(named);
            try (Jvm jvm = launch.run(Leaks.class, "listeners").ready()) {
                dump(jvm, "engine snapshot");
                assertEquals(0, jvm.end(), jvm.err::text);
            }
            assertEquals(Set.of(plain + ".hprof", "logs"), new Folder(folder).names());
            holdsTheLeak(plain + ".hprof");
            Files.delete(folder.resolve(plain + ".hprof"));
        }
    }

    private Process started(String line) {
        try {
            return new ProcessBuilder("sh", "-c", "exec " + line).directory(folder.toFile()).start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Jvm jvm(Jdk jdk, String options) {
        return Jvm.on(jdk, folder).agent("heap=dump,doe=n," + options).run(Leaks.class, "listeners").ready();
    }

    /** Asks for a dump, and waits for this word of it. */
    private static String dump(Jvm jvm, String word) {
        jvm.signal("QUIT");
        return await(jvm, word);
    }

    private static String await(Jvm jvm, String word) {
        return jvm.err.await(1, "'" + word + "'", line -> line.contains(word), Jvm.LIMIT);
    }

    private void holdsTheLeak(String name) {
        assertEquals(Leaks.SESSIONS, new HprofCheck(folder.resolve(name)).good().histogram().of("leaks.Leaks$Session"));
    }
}
