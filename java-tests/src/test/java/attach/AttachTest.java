package attach;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Command;
import harness.Folder;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Testimony;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import lifecycle.Patient;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** A JVM that knows nothing of the agent is dumped by loading it into the running process. */
class AttachTest {
    @TempDir Path folder;

    /** Java 8 has no command to load an agent. */
    static List<Jdk> since11() {
        return Jdks.since(11);
    }

    @ParameterizedTest
    @Rows("since11")
    void threeTimesInOneProcess(Jdk jdk) {
        try (Jvm jvm = Jvm.on(jdk, folder).run(Patient.class).ready()) {
            for (int i = 1; i <= 3; i++) {
                Command attached = jvm.attach("heap=dump,file=" + folder.resolve(i + ".hprof"));
                assertTrue(attached.out.contains("return code: 0"), attached::toString);
                Testimony.of(jvm).mustHoldIn(folder.resolve(i + ".hprof"));
            }
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(jvm.out.text().endsWith("BYE"), jvm.out::text);
            assertEquals(Set.of("1.hprof", "2.hprof", "3.hprof"), new Folder(folder).dumps(), "no dump at the end");
        }
    }

    /** The file that a command names is written. */
    @ParameterizedTest
    @Rows("since11")
    void theDumpHasTheNameThatWasGivenOrThereIsNone(Jdk jdk) throws IOException {
        Path file = folder.resolve("out.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).run(Patient.class).ready()) {
            Files.write(file, new byte[] {'x'});
            Command there = jvm.attach("heap=dump,file=" + file);
            assertTrue(there.out.contains("return code: 200"), there::toString);
            jvm.err.await("hprof-rs: no dump: " + file + " exists and is not overwritten", Jvm.LIMIT);
            assertEquals(1, Files.size(file));
            Command forced = jvm.attach("heap=dump,force=y,file=" + file);
            assertTrue(forced.out.contains("return code: 0"), forced::toString);
            Testimony.of(jvm).mustHoldIn(file);
            Files.delete(file);
            Command again = jvm.attach("heap=dump,file=" + file);
            assertTrue(again.out.contains("return code: 0"), again::toString);
            Testimony.of(jvm).mustHoldIn(file);
            // Without a name, any free one will do.
            for (int i = 0; i < 2; i++) {
                Command unnamed = jvm.attach("heap=dump");
                assertTrue(unnamed.out.contains("return code: 0"), unnamed::toString);
            }
            assertEquals(0, jvm.end(), jvm.err::text);
            assertEquals(Set.of("out.hprof", "java.hprof", "java.1.hprof"), new Folder(folder).dumps());
        }
    }

    @ParameterizedTest
    @Rows("since11")
    void twoAtOnce(Jdk jdk) {
        try (Jvm jvm = Jvm.on(jdk, folder).run(Patient.class).ready()) {
            String options = "heap=dump,file=" + folder.resolve("out.%n.hprof");
            CompletableFuture<Command> other = CompletableFuture.supplyAsync(() -> jvm.attach(options));
            Command one = jvm.attach(options);
            assertTrue(one.out.contains("return code: 0"), one::toString);
            assertTrue(other.join().out.contains("return code: 0"), () -> other.join().toString());
            assertEquals(0, jvm.end(), jvm.err::text);
            assertEquals(Set.of("out.1.hprof", "out.2.hprof"), new Folder(folder).dumps());
            Testimony.of(jvm).mustHoldIn(folder.resolve("out.1.hprof"));
            Testimony.of(jvm).mustHoldIn(folder.resolve("out.2.hprof"));
        }
    }

    @ParameterizedTest
    @Rows("since11")
    void besideAnAgentThatIsThereAlready(Jdk jdk) {
        try (Jvm jvm = Jvm.on(jdk, folder).dumpTo(folder.resolve("end.hprof")).run(Patient.class).ready()) {
            Command attached = jvm.attach("heap=dump,file=" + folder.resolve("now.hprof"));
            assertTrue(attached.out.contains("return code: 0"), attached::toString);
            assertEquals(0, jvm.end(), jvm.err::text);
            assertEquals(Set.of("now.hprof", "end.hprof"), new Folder(folder).dumps());
            Testimony.of(jvm).mustHoldIn(folder.resolve("now.hprof"));
            Testimony.of(jvm).mustHoldIn(folder.resolve("end.hprof"));
        }
    }

    @ParameterizedTest
    @Rows("since11")
    void badOptionsLeaveTheJvmAlone(Jdk jdk) {
        try (Jvm jvm = Jvm.on(jdk, folder).run(Patient.class).ready()) {
            Command attached = jvm.attach("heap=nonsense,file=" + folder.resolve("out.hprof"));
            assertFalse(attached.out.contains("return code: 0"), attached::toString);
            jvm.err.await("hprof-rs: heap=nonsense", Jvm.LIMIT);
            jvm.say("still there?").out.await("ECHO still there?", Jvm.LIMIT);
            assertEquals(0, jvm.end(), jvm.err::text);
            assertEquals(1, jvm.err.lines().stream().filter(line -> line.startsWith("hprof-rs:")).count(), jvm.err::text);
            assertEquals(Set.of(), new Folder(folder).dumps());
        }
    }
}
