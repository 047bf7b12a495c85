package refusals;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import big.Chain;
import big.Million;
import harness.Beside;
import harness.Command;
import harness.Folder;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.Mounts;
import harness.Rows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import lifecycle.Patient;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What cannot be done is reported in one line, and leaves no other trace in the program or on the disk. */
class RefusalsTest {
    @TempDir Path folder;

    /** The options, the option that is at fault, and what else the line must have; all refusals are in crates/base/options/tests.rs. */
    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
        "heap=nonsense; heap=nonsense; dump|sites|all",
        "heap=dump,timeuot=2; timeuot=2; timeout",
        "heap=dump,file=%q.hprof; file=%q.hprof; %p %t %n %h",
        "monitor=y,file=out.hprof; monitor=y; another name",
        "heap=dump,net=localhost; net=localhost; HOST:PORT",
    })
    void optionsThatCannotBe(String options, String option, String allowed) {
        for (Jdk jdk : List.of(Jdks.of(11), Jdks.of(25))) {
            try (Jvm jvm = Jvm.on(jdk, folder).agent(options).run(Patient.class)) {
                assertNotEquals(0, jvm.exit());
                List<String> said = agentLines(jvm);
                assertEquals(1, said.size(), jvm.err::text);
                assertTrue(said.get(0).contains(option) && said.get(0).contains(allowed), jvm.err::text);
                assertFalse(jvm.out.text().contains("READY"), "the program must not start");
                assertEquals(Set.of(), new Folder(folder).dumps());
            }
        }
    }

    @ParameterizedTest
    @Rows("harness.Jdks#majors")
    void aPlaceWhereNoFileCanBe(Jdk jdk) throws IOException {
        failsHarmlessly(jdk, folder.resolve("missing/out.hprof"));
        failsHarmlessly(jdk, Files.createFile(folder.resolve("file")).resolve("out.hprof"));
        failsHarmlessly(jdk, Path.of("/proc/out.hprof"));
        failsHarmlessly(jdk, Files.createDirectories(folder.resolve("folder/out.hprof")));
        assertEquals(Set.of("out.hprof"), new Folder(folder.resolve("folder")).names());
    }

    /** Each JVM waits ten seconds for a reader. */
    @Beside
    @ParameterizedTest
    @Rows("harness.Jdks#majors")
    void aTargetThatIsAPipe(Jdk jdk) throws IOException {
        Path pipe = Files.createDirectories(folder.resolve("pipes")).resolve("out.hprof");
        Command.run("mkfifo", pipe).good();
        failsHarmlessly(jdk, pipe);
        assertTrue(Files.readAttributes(pipe, "isOther").containsValue(true), "the pipe is still one");
        assertEquals(Set.of("out.hprof"), new Folder(pipe.getParent()).names());
    }

    /** By signal or at the end: the program's output and exit code are those without the agent. */
    private void failsHarmlessly(Jdk jdk, Path file) {
        try (Jvm asked = Jvm.on(jdk, folder).agent("heap=dump,doe=n,file=" + file).run(Patient.class).ready();
                Jvm ending = Jvm.on(jdk, folder).dumpTo(file).run(Patient.class).ready()) {
            asked.signal("QUIT");
            ending.say("exit");
            asked.err.await(1, "word of the failure",
                    line -> line.startsWith("hprof-rs: no dump") && line.contains(file.toString()), Jvm.LIMIT);
            asked.say("alive?").out.await("ECHO alive?", Jvm.LIMIT);
            asked.say("exit");
            ended(asked);
            ended(ending);
            assertTrue(ending.err.text().contains("hprof-rs: no dump"), ending.err::text);
        }
    }

    private void ended(Jvm jvm) {
        assertEquals(0, jvm.exit(), jvm.err::text);
        assertTrue(jvm.out.text().endsWith("BYE"), jvm.out::text);
        assertFalse(jvm.err.text().contains("hprof-rs: dumped"), jvm.err::text);
        assertEquals(Set.of(), new Folder(folder).dumps());
    }

    /** A disk of two megabytes, mounted where only this JVM sees it. */
    @ParameterizedTest
    @Rows("harness.Jdks#majors")
    void aDiskThatIsFull(Jdk jdk) throws IOException {
        Path disk = Files.createDirectories(folder.resolve("disk"));
        Launch launch = Jvm.on(jdk, folder).switches("-Xmx256m").through("unshare", Mounts.OWN, "sh", "-c",
                "mount -t tmpfs -o size=2m tmpfs " + disk + " && exec \"$@\"", "sh").dumpTo(disk.resolve("out.hprof"));
        try (Jvm jvm = launch.run(Million.class).ready()) {
            jvm.signal("QUIT");
            jvm.err.await(1, "word of the full disk",
                    line -> line.startsWith("hprof-rs:") && line.contains("No space left"), Jvm.LIMIT);
            Path seen = Path.of("/proc/" + jvm.pid() + "/root" + disk);
            assertEquals(Set.of(), new Folder(seen).names(), "what is left on the disk");
            ended(jvm.say("exit"));
        }
    }

    /** A limit on the size of files is met in the middle of the dump, too; by default its signal kills. */
    @ParameterizedTest
    @Rows("harness.Jdks#majors")
    void aFileThatMayNotGrow(Jdk jdk) {
        Launch launch = Jvm.on(jdk, folder).switches("-Xmx256m", "-Xshare:off")
                .through("bash", "-c", "ulimit -f 2048 && exec \"$@\"", "bash").dumpTo(folder.resolve("out.hprof"));
        try (Jvm jvm = launch.run(Million.class).ready()) {
            jvm.signal("QUIT");
            jvm.err.await(1, "word of the limit",
                    line -> line.startsWith("hprof-rs:") && line.contains("File too large"), Jvm.LIMIT);
            assertEquals(Set.of(), new Folder(folder).dumps());
            ended(jvm.say("exit"));
        }
    }

    @ParameterizedTest
    @Rows("harness.Jdks#majors")
    void aJvmKilledInMidDumpLeavesNoFinalFile(Jdk jdk) throws IOException {
        Path file = folder.resolve("out.hprof");
        // A file with this name is a whole dump; now and then one is quicker than the signal, not again and again.
        for (int tries = 3; killed(jdk, file).contains("out.hprof"); tries--) {
            assertTrue(tries > 1, "no dump was killed");
            new HprofCheck(file).good();
            Files.delete(file);
        }
    }

    /** The files that a JVM leaves which is killed when its dump has begun. */
    private Set<String> killed(Jdk jdk, Path file) {
        Folder dumps = new Folder(folder);
        Set<String> before = dumps.dumps();
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-Xmx600m").dumpTo(file).run(Chain.class).ready()) {
            jvm.signal("QUIT");
            dumps.await(() -> !dumps.dumps().equals(before), "a dump in progress", Jvm.LIMIT);
            jvm.signal("KILL");
            assertNotEquals(0, jvm.exit());
            return dumps.dumps();
        }
    }

    private static List<String> agentLines(Jvm jvm) {
        return jvm.err.lines().stream().filter(line -> line.contains("hprof-rs:")).collect(Collectors.toList());
    }
}
