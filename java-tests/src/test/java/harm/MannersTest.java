package harm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Engine;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jvm;
import harness.Rows;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;

/** How the forked copy behaves towards the system and the application's other processes, as the system sees it. */
class MannersTest extends HoldingTest {
    private static final int SIGQUIT = 3;

    static List<Jdk> jdks() {
        return two();
    }

    /** Sent to a group of processes: by the terminal, by systemd, by `pkill -f`. It is the JVM that answers. */
    @ParameterizedTest
    @Rows("jdks")
    void whatEndsOrAsksTheJvmDoesNotEndTheCopy(Jdk jdk) throws IOException {
        try (Jvm jvm = run(holding(jdk, Place.MARKING, ""))) {
            long copy = heldCopy(jvm);
            for (String name : List.of("QUIT", "TERM", "INT", "HUP", "USR1", "USR2")) {
                signal(copy, name);
            }
            release();
            assertTrue(Engine.isSnapshot(jvm.dumped(1)), jvm.err::text);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        new HprofCheck(folder.resolve("out.1.hprof")).good();
    }

    @ParameterizedTest
    @Rows("jdks")
    void itKeepsNothingThatIsTheApplications(Jdk jdk) throws IOException {
        try (Jvm jvm = run(holding(jdk, Place.MARKING, "").through("nice", "-n", "3"))) {
            Path copy = Paths.get("/proc/" + heldCopy(jvm));
            // Where it talks with the JVM, where it writes, where it is held, nowhere, and where the system reports memory.
            List<String> open = Children.descriptors(Long.parseLong(copy.getFileName().toString()));
            List<String> allowed = List.of("socket:", folder.toString(), "/dev/null", "/proc/meminfo", "/sys/fs/cgroup/");
            open.removeIf(name -> allowed.stream().anyMatch(name::startsWith));
            assertEquals(List.of(), open);
            assertEquals("hprof heap dump", text(copy.resolve("comm")));
            // Where the kernel kills all of a control group at once, to go first would have the application killed for the copy.
            String first = ControlGroup.isKilledAtOnce() ? text(Paths.get("/proc/" + jvm.pid(), "oom_score_adj")) : "1000";
            assertEquals(first, text(copy.resolve("oom_score_adj")));
            // 1, as with 0 a program that the system hands cores to would get one all the same; 0 where nothing else is allowed.
            assertTrue(text(copy.resolve("limits")).matches("(?s).*Max core file size +[01] +[01] .*"), () -> text(copy.resolve("limits")));
            // Only its threads that mark and write are nicer: one that answers must not starve.
            assertEquals(niceness(Paths.get("/proc/" + jvm.pid())), niceness(copy), "niceness");
            String status = text(copy.resolve("status"));
            assertEquals(0, mask(status, "SigBlk"));
            assertEquals(0, mask(status, "SigCgt") & 1L << SIGQUIT - 1);
            assertTrue((mask(status, "SigIgn") & 1L << SIGQUIT - 1) != 0, status);
            release();
            jvm.dumped(1);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /** It holds no port of the application's, nor its memory: what comes after a killed JVM finds nothing of it. */
    @ParameterizedTest
    @Rows("jdks")
    void itDiesWithTheJvm(Jdk jdk) {
        try (Jvm jvm = run(holding(jdk, Place.MARKING, ""))) {
            long copy = heldCopy(jvm);
            jvm.signal("KILL");
            jvm.exit();
            Children.awaitGone(copy, Jvm.LIMIT);
        }
    }

    private static int niceness(Path process) {
        // The nineteenth field; the name in parentheses is the second.
        String stat = text(process.resolve("stat"));
        return Integer.parseInt(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[16]);
    }

    private static long mask(String status, String name) {
        String line = status.lines().filter(one -> one.startsWith(name + ":")).collect(Collectors.joining());
        return Long.parseUnsignedLong(line.substring(name.length() + 1).trim(), 16);
    }

    private static String text(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).trim();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
