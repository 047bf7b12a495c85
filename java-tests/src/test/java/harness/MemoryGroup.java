package harness;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A control group whose memory a test limits. */
public final class MemoryGroup {
    private MemoryGroup() {}

    /** A new group whose memory can be limited, with the files of version 1; without one there is nothing to test. */
    public static Path make() throws IOException {
        Path root = Path.of("/sys/fs/cgroup/memory");
        assumeTrue(Files.isWritable(root) && Files.exists(root.resolve("memory.limit_in_bytes")),
                "no control group with limited memory can be made here");
        return Files.createTempDirectory(root, "hprof-rs-test-");
    }

    /** What runs the command that follows in a group. */
    public static String[] in(Path group) {
        return new String[] {"sh", "-c", "echo $$ > " + group.resolve("cgroup.procs") + " && exec \"$@\"", "sh"};
    }

    /** Limits a group's memory to what it has now and so much more. Cached files make way. */
    public static void leave(Path group, long bytes) throws IOException {
        long used = Long.parseLong(Files.readString(group.resolve("memory.usage_in_bytes")).trim());
        String cached = Files.readAllLines(group.resolve("memory.stat")).stream()
                .filter(line -> line.startsWith("total_inactive_file ")).findFirst().orElseThrow();
        limit(group, "" + (used - Long.parseLong(cached.split(" ")[1]) + bytes));
    }

    /** A group's memory is no longer limited. */
    public static void lift(Path group) throws IOException {
        limit(group, "-1");
    }

    private static void limit(Path group, String bytes) throws IOException {
        Files.writeString(group.resolve("memory.limit_in_bytes"), bytes);
    }
}
