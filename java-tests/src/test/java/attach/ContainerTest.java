package attach;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import harness.Command;
import harness.Folder;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.Mounts;
import harness.Rows;
import harness.Testimony;
import harness.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import lifecycle.Patient;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** `hprof dump PID` reaches a JVM with mounts and a root of its own, which has neither the library nor this folder. */
class ContainerTest extends CommandTest {
    /** Makes the root $1 of what a JVM needs and runs the rest of the words there. $TMP is how its /tmp is mounted. */
    private static final String CONTAINER = String.join("\n",
            "root=$1; shift",
            "mount -t tmpfs none \"$root\" && mkdir \"$root/out\" && ln -s \"$HOST\" \"$root/link\" || exit",
            "if [ $TMP = link ]; then mkdir -p \"$root$HOST\" && ln -s \"$HOST\" \"$root/tmp\" || exit; else",
            "  mkdir \"$root/tmp\" && mount -t tmpfs -o $TMP none \"$root/tmp\" || exit; fi",
            "for folder in /usr /lib /lib64 /bin /etc /dev /proc \"$JAVA\" \"$CLASSES\"; do",
            "  [ -d \"$folder\" ] && mkdir -p \"$root$folder\" && { mount --rbind \"$folder\" \"$root$folder\" || exit; }",
            "done",
            "exec chroot \"$root\" \"$@\"");

    private static final Path TARGET = Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolve("target");

    @TempDir Path folder;
    private Path root;
    private Path host;

    @BeforeEach
    void makeFolders() throws IOException {
        root = Files.createDirectory(folder.resolve("root"));
        host = Files.createDirectory(folder.resolve("host"));
    }

    static List<Jdk> jdks() {
        return Jdks.majors();
    }

    @ParameterizedTest
    @Rows("jdks")
    void bringsTheLibraryAndFindsTheDump(Jdk jdk) throws IOException {
        try (Jvm jvm = contained(jdk, "mode=1777")) {
            Path seen = Path.of("/proc/" + jvm.pid() + "/root");
            Command command = dump(jvm.pid(), "-o", "/out/1.hprof").good();
            String names = seen + "/out/1.hprof (/out/1.hprof in the container of the JVM): ";
            assertTrue(command.out.startsWith(names), command::toString);
            Testimony.of(jvm).mustHoldIn(seen.resolve("out/1.hprof"));
            mustRefuse(dump(jvm.pid(), "-o", "/out/1.hprof"), "it is there already");
            // This command's own folder is not there.
            command = dump(jvm.pid()).good();
            assertTrue(command.out.startsWith(seen + "/tmp/java-" + jvm.pid() + "-"), command::toString);
            mustRefuse(dump(jvm.pid(), "-o", folder.resolve("3.hprof")), "cannot write to " + folder + ": No such file");
            assertEquals(1, libraries(jvm).size(), "loaded once, though it was brought twice");
            try (var left = Files.list(seen.resolve("tmp"))) {
                assertEquals(List.of(), left.filter(file -> file.getFileName().toString().contains("hprof_")).collect(Collectors.toList()));
            }
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /** As Docker mounts it with {@code --tmpfs /tmp}. */
    @Test
    void loadsTheLibraryFromTheWorkingFolderIfTmpHoldsNoPrograms() {
        try (Jvm jvm = contained(Jdks.of(17), "mode=1777,noexec")) {
            dump(jvm.pid(), "-o", "/tmp/1.hprof").good();
            Testimony.of(jvm).mustHoldIn(Path.of("/proc/" + jvm.pid() + "/root/tmp/1.hprof"));
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /** The dump leaves the container by a socket in its /tmp, and needs no other room there. */
    @Test
    void sendsTheDumpOutOfTheContainer() throws IOException {
        try (Jvm jvm = contained(Jdks.of(17), "mode=1777,size=1m,noexec")) {
            Path sent = folder.resolve("sent.hprof");
            Command.run("sh", "-c", "'" + Tools.command() + "' dump " + jvm.pid() + " -o - > " + sent).good();
            Testimony.of(jvm).mustHoldIn(sent);
            try (var left = Files.list(Path.of("/proc/" + jvm.pid() + "/root/tmp"))) {
                assertEquals(List.of(), left.filter(file -> file.getFileName().toString().startsWith(".hprof")).collect(Collectors.toList()));
            }
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /** HotSpot writes where the JVM is, and the name is given from here. */
    @Test
    void hasHotSpotsOwnDumpWhereNoAgentIsLoaded() throws IOException {
        try (Jvm jvm = contained(Jdks.of(25), "mode=1777", "-XX:-EnableDynamicAgentLoading")) {
            Path dump = Path.of("/proc/" + jvm.pid() + "/root/out/1.hprof");
            Command command = dump(jvm.pid(), "-o", "/out/1.hprof", "--stop-the-world").good();
            assertTrue(command.out.startsWith(dump + " (/out/1.hprof in the container of the JVM): "), command::toString);
            DumpCommandTest.hasThePatients(dump);
            assertEquals(Set.of("1.hprof"), new Folder(dump.getParent()).names());
            mustRefuse(dump(jvm.pid(), "-o", "/link/1.hprof", "--stop-the-world"), "cannot write to /link: No such file");
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /** A link of the container's to a folder that only the host has. */
    @Test
    void followsNoLinkOutOfTheContainer() {
        try (Jvm jvm = contained(Jdks.of(21), "mode=1777")) {
            mustRefuse(dump(jvm.pid(), "-o", "/link/1.hprof"), "cannot write to /link: No such file");
            mustRefuse(dump(jvm.pid(), "--agent", "/link/agent.so"), "cannot find the agent: /link/agent.so");
            assertEquals(Set.of(), new Folder(host).names());
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /** Its /tmp is a link by a path that the container has and the host has, too: only the container's is written to. */
    @ParameterizedTest
    @Rows("jdks")
    void leavesTheHostsFolderAloneIfTmpIsALink(Jdk jdk) throws IOException {
        assumeFalse(TARGET.startsWith("/tmp"), "the container's /tmp is a link, and it needs this folder, which is below /tmp");
        // Below /tmp the link would lead to itself.
        host = Files.createTempDirectory(TARGET, "host");
        try (Jvm jvm = contained(jdk, "link")) {
            Files.setLastModifiedTime(host, FileTime.fromMillis(0));
            dump(jvm.pid(), "-o", "/out/1.hprof").good();
            Testimony.of(jvm).mustHoldIn(Path.of("/proc/" + jvm.pid() + "/root/out/1.hprof"));
            // From here the path outside would lead to the host's folder.
            Command linked = dump(jvm.pid(), "-o", "/tmp/2.hprof").good();
            assertTrue(linked.out.startsWith("/tmp/2.hprof in the container of the JVM: "), linked::toString);
            Command asked = Command.run("sh", "-c", "printf '" + call("dump") + call("overview") + "' | '" + Tools.command() + "' mcp " + jvm.pid()
                    + " --allow-dump /tmp").good();
            assertTrue(!asked.out.contains("\"isError\":true") && asked.out.contains("has_values\\\":true"), asked::toString);
            assertEquals(FileTime.fromMillis(0), Files.getLastModifiedTime(host), "something was made in the host's folder");
            assertEquals(0, jvm.end(), jvm.err::text);
        } finally {
            Files.delete(host);
        }
    }

    /** A line of the protocol, as printf takes it. */
    private static String call(String tool) {
        return "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" + tool + "\",\"arguments\":{}}}\\n";
    }

    private Jvm contained(Jdk jdk, String tmp, String... switches) {
        Path classes = TARGET.resolve("test-classes");
        Launch launch = Jvm.on(jdk, folder).through("env", "JAVA=" + jdk.home, "CLASSES=" + classes, "TMP=" + tmp, "HOST=" + host,
                "unshare", Mounts.OWN, "sh", "-c", CONTAINER, "sh", root.toString());
        return launch.switches(switches).run(Patient.class).ready();
    }

    /** The agent's libraries that the JVM has mapped. */
    private static Set<String> libraries(Jvm jvm) throws IOException {
        return Files.readAllLines(Path.of("/proc/" + jvm.pid() + "/maps")).stream().filter(line -> line.contains("hprof_"))
                .map(line -> line.split(" +", 6)[5]).collect(Collectors.toSet());
    }
}
