package attach;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import harness.Collector;
import harness.Command;
import harness.Folder;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Mode;
import harness.Rows;
import harness.Testimony;
import harness.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import lifecycle.Patient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** `hprof dump PID` does without a JDK what jcmd does with one, on Java 8, too. */
class DumpCommandTest extends CommandTest {
    @TempDir Path folder;

    static List<Jdk> jdks() {
        return Jdks.majors();
    }

    @ParameterizedTest
    @Rows("jdks")
    void dumpsAJvmThatRuns(Jdk jdk) {
        Path first = folder.resolve("1.hprof");
        Path packed = folder.resolve("2.hprof.gz");
        try (Jvm jvm = Jvm.on(jdk, folder).run(Patient.class).ready()) {
            // The first has the JVM listen, the second finds it listening.
            Command command = dump(jvm.pid(), "-o", first).good();
            assertTrue(command.out.startsWith(first + ": "), command::toString);
            assertTrue(command.err.contains("application paused for ") && command.err.contains("engine snapshot"), command::toString);
            Testimony.of(jvm).mustHoldIn(first);
            dump(jvm.pid(), "-o", packed).good();
            new HprofCheck(packed).good();
            mustRefuse(dump(jvm.pid(), "-o", first), "1.hprof: it is there already");
            mustRefuse(dump(jvm.pid(), "-o", folder.resolve("3.hprof"), "--options", "depth=x"), "depth=x: depth must be decimal");
            mustRefuse(dump(jvm.pid(), "-o", folder.resolve("nowhere/3.hprof")), "cannot write to ");
            mustRefuse(dump(jvm.pid(), "-o", folder.resolve("3.hprof"), "--agent", Tools.command()), "could not load the agent");
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(jvm.out.text().endsWith("BYE") && !jvm.out.text().contains("Full thread dump"), jvm.out::text);
            assertEquals(Set.of("1.hprof", "2.hprof.gz"), new Folder(folder).dumps());
        }
    }

    /** A file that was moved away makes place for another of its name, also where the JVM's own agent has the same. */
    @ParameterizedTest
    @Rows("jdks")
    void theFileHasTheNameThatWasAskedFor(Jdk jdk) throws IOException {
        Path file = folder.resolve("a.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=dump,doe=n,file=" + file).run(Patient.class).ready()) {
            jvm.signal("QUIT");
            jvm.dumped(1);
            for (int i = 0; i < 2; i++) {
                Files.delete(file);
                Command command = dump(jvm.pid(), "-o", file).good();
                assertTrue(command.out.startsWith(file + ": "), command::toString);
                Testimony.of(jvm).mustHoldIn(file);
            }
            assertEquals(0, jvm.end(), jvm.err::text);
            assertEquals(Set.of("a.hprof"), new Folder(folder).dumps());
        }
    }

    /** The environment decides about the JVM's own dumps; the dump of a command holds no more than they do. */
    @ParameterizedTest
    @Rows("jdks")
    void theEnvironmentsOptionsLimitWhatIsToldAndNothingElse(Jdk jdk) {
        Path file = folder.resolve("a.hprof");
        String variable = "_JAVA_HPROF_OPTIONS=file=" + folder.resolve("env.hprof") + ",net=h:1,gz=1,redact=all";
        try (Jvm jvm = Jvm.on(jdk, folder).through("env", variable).run(Patient.class).ready()) {
            Command command = dump(jvm.pid(), "-o", file).good();
            assertTrue(command.err.contains("redacted: all"), command::toString);
            new HprofCheck(file).good();
            Command leaks = Command.run(Tools.command(), "leaks", jvm.pid());
            assertTrue(leaks.exit < 2, leaks::toString);
            command = dump(jvm.pid(), "-o", folder.resolve("b.hprof"), "--options", "redact=strings").good();
            assertTrue(command.err.contains("redacted: all"), command::toString);
            assertEquals(0, jvm.end(), jvm.err::text);
            assertEquals(Set.of("a.hprof", "b.hprof"), new Folder(folder).dumps());
        }
    }

    /** Without leave no application is stopped for HotSpot's own dumper. */
    @Test
    void stopsTheApplicationOnlyWithLeave() {
        Path file = folder.resolve("z.hprof");
        try (Jvm jvm = Jvm.on(Jdks.of(11), folder).with(Collector.ZGC).run(Patient.class).ready()) {
            mustRefuse(dump(jvm.pid(), "-o", file), "so a dump would stop the application for up to ");
            mustRefuse(dump(jvm.pid(), "-o", file), "(--stop-the-world)");
            assertEquals(Set.of(), new Folder(folder).dumps());
            Command command = dump(jvm.pid(), "-o", file, "--stop-the-world").good();
            assertTrue(command.err.contains("engine hotspot"), command::toString);
            Testimony.of(jvm).mustHoldIn(file);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    static List<Jdk> withTheSwitch() {
        return Jdks.majors().stream().filter(jdk -> jdk.major > 8).collect(Collectors.toList());
    }

    /** A JVM that loads no agent has HotSpot's own dump, whole or not at all, and only if the user allows it. */
    @ParameterizedTest
    @Rows("withTheSwitch")
    void aJvmThatLoadsNoAgentIsDumpedByHotSpot(Jdk jdk) throws IOException {
        Path file = folder.resolve("a b.hprof");
        Path packed = folder.resolve("p.hprof.gz");
        Path begun = Files.writeString(folder.resolve("begun.hprof.part"), "of another dump");
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-XX:-EnableDynamicAgentLoading").run(Patient.class).ready()) {
            mustRefuse(dump(jvm.pid(), "-o", file), "; hprof dump --stop-the-world -o FILE has HotSpot's own dumper");
            mustRefuse(dump(jvm.pid(), "-o", file, "--stop-the-world", "--options", "redact=all"), "knows no --options");
            mustRefuse(dump(jvm.pid(), "-o", folder.resolve("begun.hprof"), "--stop-the-world"), "its .part is there already");
            assertEquals(Set.of("begun.hprof.part"), new Folder(folder).dumps());
            Command command = dump(jvm.pid(), "-o", file, "--stop-the-world").good();
            assertTrue(command.out.startsWith(file + ": "), command::toString);
            assertTrue(command.err.contains("stops the application until the dump is written"), command::toString);
            hasThePatients(file);
            mustRefuse(dump(jvm.pid(), "-o", file, "--stop-the-world"), "it is there already");
            Command second = dump(jvm.pid(), "-o", packed, "--stop-the-world");
            if (jdk.major < 17) {
                mustRefuse(second, "does not compress");
            } else {
                second.good();
                assertEquals((byte) 0x1f, Files.readAllBytes(packed)[0]);
                hasThePatients(packed);
            }
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        Map<String, String> files = Mode.of(folder);
        assertEquals("rw-------", files.remove("a b.hprof"));
        assertEquals(jdk.major < 17 ? null : "rw-------", files.remove("p.hprof.gz"));
        assertEquals(Set.of("begun.hprof.part"), files.keySet());
        assertEquals("of another dump", Files.readString(begun));
    }

    /** HotSpot's dumps do not keep all rules that ours do. */
    static void hasThePatients(Path dump) {
        JsonObject histogram = JsonParser.parseString(Command.run(Tools.command(), "histo", "--json", dump).good().out).getAsJsonObject();
        for (JsonElement row : histogram.getAsJsonArray("classes")) {
            if (row.getAsJsonObject().get("class").getAsString().equals(Patient.class.getName())) {
                assertEquals(3, row.getAsJsonObject().get("objects").getAsInt());
                return;
            }
        }
        throw new AssertionError("no " + Patient.class);
    }

    /** Nobody is sent a signal that could end it. */
    @Test
    void leavesOthersAlone() throws IOException {
        Process other = new ProcessBuilder("sleep", "600").start();
        try (Jvm deaf = Jvm.on(Jdks.of(17), folder).switches("-Xrs").run(Patient.class).ready();
                Jvm closed = Jvm.on(Jdks.of(17), Files.createDirectory(folder.resolve("closed")))
                        .switches("-XX:+DisableAttachMechanism").run(Patient.class).ready()) {
            mustRefuse(dump(other.pid()), "is not a JVM: it has no libjvm.so");
            assertTrue(other.isAlive());
            mustRefuse(dump(deaf.pid()), "does not handle SIGQUIT");
            mustRefuse(dump(closed.pid()), "-XX:+DisableAttachMechanism");
            assertEquals(0, deaf.end(), deaf.err::text);
            assertEquals(0, closed.end(), closed.err::text);
            assertFalse(closed.out.text().contains("Full thread dump"), closed.out::text);
        } finally {
            other.destroyForcibly();
        }
        mustRefuse(dump(Integer.MAX_VALUE), "there is no process");
    }
}
