package attach;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Command;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Testimony;
import harness.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lifecycle.Patient;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** The user of a JVM reaches it also where the system hides its folders from that user; only root can start these. */
class HiddenJvmTest extends CommandTest {
    private static final List<String> AS_NOBODY = List.of("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups");
    private static final List<String> WITH_CAPABILITY = with(AS_NOBODY, "--inh-caps", "+net_bind_service", "--ambient-caps", "+net_bind_service");

    @TempDir Path folder;

    static List<Jdk> jdks() {
        return Jdks.majors();
    }

    @BeforeEach
    void openTheFolder() throws IOException {
        mustRunOthers();
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
    }

    /** As systemd's AmbientCapabilities= starts it. */
    @ParameterizedTest
    @Rows("jdks")
    void itHasCapabilitiesThatItsUserHasNot(Jdk jdk) {
        Path file = folder.resolve("1.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).through(words(WITH_CAPABILITY)).run(Patient.class).ready()) {
            asNobody("dump", jvm.pid(), "-o", file).good();
            Testimony.of(jvm).mustHoldIn(file);
            assertTrue(asNobody("leaks", jvm.pid()).good().out.length() > 0);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /** A launcher that may be run but not read, as one with capabilities of its file. */
    @Test
    void itIsNotDumpable() throws IOException {
        Jdk jdk = Jdks.of(21);
        Path home = Files.createDirectory(folder.resolve("jdk"));
        Path java = Files.createDirectory(home.resolve("bin")).resolve("java");
        Files.copy(jdk.java(), java);
        Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwx--x--x"));
        for (String part : List.of("lib", "conf")) {
            Files.createSymbolicLink(home.resolve(part), jdk.home.resolve(part).toRealPath());
        }
        Path file = folder.resolve("1.hprof");
        String[] through = words(with(AS_NOBODY, "sh", "-c", "shift; exec $0 \"$@\"", java.toString()));
        try (Jvm jvm = Jvm.on(jdk, folder).through(through).run(Patient.class).ready()) {
            asNobody("dump", jvm.pid(), "-o", file).good();
            Testimony.of(jvm).mustHoldIn(file);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /** The reason is named where nothing can be done about it: no folder of this command's is the JVM's. */
    @Test
    void itHasMountsOfItsOwn() {
        String[] through = words(with(List.of("unshare", "-m"), WITH_CAPABILITY.toArray(new String[0])));
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).through(through).run(Patient.class).ready()) {
            Command refused = asNobody("dump", jvm.pid());
            mustRefuse(refused, "it has more capabilities (cap_net_bind_service); it has other mounts than this command");
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /** What only has the right user and a handler for SIGQUIT gets no signal. */
    @Test
    void itIsNoJvm() throws IOException {
        Process other = new ProcessBuilder(with(WITH_CAPABILITY, "sh", "-c", "trap 'exit 9' QUIT; echo READY; read line")).start();
        try {
            assertEquals('R', other.getInputStream().read());
            mustRefuse(asNobody("dump", other.pid()), "is not a JVM: it has no thread with the name VM Thread");
            assertTrue(other.isAlive());
        } finally {
            other.destroyForcibly();
        }
    }

    private static Command asNobody(Object... more) {
        List<Object> all = new ArrayList<>(AS_NOBODY);
        all.add(Tools.command());
        all.addAll(Arrays.asList(more));
        return Command.run(all.toArray());
    }

    private static List<String> with(List<String> words, String... more) {
        List<String> all = new ArrayList<>(words);
        all.addAll(Arrays.asList(more));
        return all;
    }

    private static String[] words(List<String> words) {
        return words.toArray(new String[0]);
    }
}
