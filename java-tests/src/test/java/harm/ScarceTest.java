package harm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import harness.Collector;
import harness.Command;
import harness.Deadline;
import harness.Engine;
import harness.Folder;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Mounts;
import harness.Rows;
import harness.Setup;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;

/** What the system refuses in the middle of a dump, room on the disk or a process, costs nothing but that dump. */
class ScarceTest extends HoldingTest {
    /** Only the copy meets this limit. */
    @ParameterizedTest
    @Rows("two")
    void aFileThatTheCopyMayNotExtend(Jdk jdk) throws IOException {
        try (Jvm jvm = run(holding(jdk, Place.WRITING, ""))) {
            Command.run("prlimit", "--fsize=1000", "--pid", heldCopy(jvm)).good();
            release();
            gaveUp(jvm, "cannot write " + folder.resolve("out.1.hprof.part")
                    + ": File too large (os error 27), while it was being written; check the disk and try again");
        }
    }

    /** Somebody else fills the disk when the head of the dump is on it; once there is room again, so are dumps. */
    @ParameterizedTest
    @Rows("two")
    void aDiskThatIsFullBeforeTheCopyWrites(Jdk jdk) throws IOException {
        Path disk = Files.createDirectories(folder.resolve("disk"));
        try (Jvm jvm = run(holding(jdk, Place.WRITING, "", disk).through("unshare", Mounts.OWN, "sh", "-c",
                "mount -t tmpfs -o size=64m tmpfs " + disk + " && exec \"$@\"", "sh"))) {
            Path seen = Path.of("/proc/" + jvm.pid() + "/root" + disk);
            heldCopy(jvm);
            fill(seen.resolve("filler"));
            release();
            assertEquals("no dump: cannot write " + disk.resolve("out.1.hprof.part")
                    + ": No space left on device (os error 28), while it was being written; check the disk and try again",
                    outcome(jvm, 1));
            assertEquals(Set.of("filler"), new Folder(seen).names());
            assertEquals(List.of(), Children.of(jvm.pid()), "children and zombies");
            Files.delete(seen.resolve("filler"));
            another(jvm, 2, "snapshot");
            new HprofCheck(seen.resolve("out.2.hprof")).good();
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(jvm.out.text().contains("HOLDS"), jvm.out::text);
        }
    }

    /** Room for nothing, for the thread that writes, for the copy, too, but not for the copy's threads; room for all. */
    @ParameterizedTest
    @Rows("two")
    void processesThatAreUsedUp(Jdk jdk) throws IOException {
        Path group = group();
        // A JVM that makes no threads of its own while the test counts them.
        try (Jvm jvm = run(Jvm.on(jdk, folder).switches("-Xmx256m", "-XX:+UseSerialGC", "-XX:-UseDynamicNumberOfCompilerThreads")
                .through("sh", "-c", "echo $$ > " + group.resolve("cgroup.procs") + " && exec \"$@\"", "sh")
                .agent("heap=dump,file=" + folder.resolve("out.%n.hprof")))) {
            int running = settled(group);
            limit(group, running, 0);
            jvm.signal("QUIT");
            assertEquals("no dump: cannot start a thread that writes: Resource temporarily unavailable (os error 11); "
                    + "check the limit on threads", outcome(jvm, 1));
            limit(group, running, 1);
            none(jvm, 2, "there can be no fork: Resource temporarily unavailable (os error 11); ");
            limit(group, running, 2);
            none(jvm, 3, "the forked copy could not start a thread: Resource temporarily unavailable (os error 11); ");
            jvm.say("after").out.await("ECHO after", Jvm.LIMIT);
            Files.writeString(group.resolve("pids.max"), "max");
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(Engine.isSnapshot(outcome(jvm, 4)), jvm.err::text);
            assertTrue(jvm.out.text().contains("HOLDS"), jvm.out::text);
            assertEquals(Set.of("out.4.hprof"), new Folder(folder).dumps());
            new HprofCheck(folder.resolve("out.4.hprof")).good();
        } finally {
            ControlGroup.delete(group, Jvm.LIMIT);
        }
    }

    /** An error of the moment is no fact about the heap: HotSpot's own dumper does not stop the application for it. */
    @ParameterizedTest
    @Rows("refusals")
    void descriptorsThatAreUsedUp(Setup setup, List<String> refusals) throws IOException {
        try (Jvm jvm = run(watching(setup.jdk, "doe=n,", folder).with(setup.collector))) {
            int number = 0;
            for (String refusal : refusals) {
                String[] words = refusal.split(" ", 2);
                Path refuse = Files.createFile(holds.resolve("refuse." + words[0]));
                none(jvm, ++number, words[1] + ": Too many open files (os error 24); the application ran on; try again");
                Files.delete(refuse);
            }
            jvm.signal("QUIT");
            String line = outcome(jvm, ++number);
            assertTrue(Engine.isSnapshot(line) || Engine.wasMoving(line), line);
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(jvm.out.text().contains("HOLDS"), jvm.out::text);
            assertEquals(Set.of("out." + number + ".hprof"), new Folder(folder).dumps());
        }
    }

    static List<Arguments> refusals() {
        List<String> all = List.of("maps it is not known where the heap is: /proc/self/maps", "socketpair there can be no fork",
                "cgroup the memory left is not known: /proc/self/cgroup");
        List<String> images = List.of("maps it is not known where the heap is: /proc/self/maps",
                "memfd_create there can be no image of the heap");
        return List.of(Arguments.of(Setup.of(Jdks.of(17), Collector.G1), all), Arguments.of(Setup.of(Jdks.of(25), Collector.ZGC), images));
    }

    /** One more dump, made by this engine. */
    private static void another(Jvm jvm, int number, String engine) {
        jvm.signal("QUIT");
        String line = outcome(jvm, number);
        assertTrue(line.endsWith(", engine " + engine), line);
    }

    /** One more that is not made, for this reason. */
    private static void none(Jvm jvm, int number, String why) {
        jvm.signal("QUIT");
        String line = outcome(jvm, number);
        assertTrue(line.startsWith("no dump: " + why), line);
    }

    private static void fill(Path file) throws IOException {
        try (OutputStream out = Files.newOutputStream(file)) {
            byte[] bytes = new byte[4096];
            while (true) {
                out.write(bytes);
            }
        } catch (IOException full) {
            assertTrue(full.getMessage().contains("No space left"), full::toString);
        }
    }

    /** A new control group that counts processes, of version 1 or 2; without one there is nothing to test. */
    private static Path group() throws IOException {
        for (Path root : List.of(Path.of("/sys/fs/cgroup/pids"), Path.of("/sys/fs/cgroup"))) {
            if (Files.isWritable(root) && Files.exists(root.resolve("cgroup.procs"))) {
                Path group = Files.createTempDirectory(root, "hprof-rs-test-");
                if (Files.exists(group.resolve("pids.max"))) {
                    return group;
                }
                Files.delete(group);
            }
        }
        assumeTrue(false, "no control group for processes can be made here");
        return null;
    }

    /** How many processes and threads run there, when none of them is ending. */
    private static int settled(Path group) throws IOException {
        Deadline deadline = Deadline.in(Jvm.LIMIT);
        int before = current(group);
        while (true) {
            LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
            int now = current(group);
            if (now == before) {
                return now;
            }
            assertFalse(deadline.over(), () -> "threads come and go: " + now);
            before = now;
        }
    }

    /** Leaves room for so many more than run there, once the threads of the last dump have left: they end after its word. */
    private static void limit(Path group, int running, int more) throws IOException {
        Deadline deadline = Deadline.in(Jvm.LIMIT);
        for (int now = current(group); now != running; now = current(group)) {
            assertFalse(deadline.over(), now + " run, not " + running);
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
        }
        Files.writeString(group.resolve("pids.max"), "" + (running + more));
    }

    private static int current(Path group) throws IOException {
        return Integer.parseInt(Files.readString(group.resolve("pids.current")).trim());
    }
}
