package harm;

import harness.Deadline;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Control groups: those that tests make, and the one that they run in. */
public final class ControlGroup {
    private ControlGroup() {}

    /** Whether memory.oom.group is set for the group of version 2 that the tests run in, or for one above it. */
    static boolean isKilledAtOnce() throws IOException {
        Path root = Paths.get("/sys/fs/cgroup");
        for (String line : Files.readAllLines(Paths.get("/proc/self/cgroup"))) {
            if (!line.startsWith("0::")) {
                continue;
            }
            // Up to the root, too, which is a group itself in a container.
            for (Path group = root.resolve(line.substring("0::/".length())); group.startsWith(root); group = group.getParent()) {
                Path flag = group.resolve("memory.oom.group");
                if (Files.exists(flag) && Files.readAllLines(flag).contains("1")) {
                    return true;
                }
            }
        }
        return false;
    }

    /** A process that has ended may still be on its way out of the group; one that has not fails the test. */
    public static void delete(Path group, Duration limit) throws IOException {
        Deadline deadline = Deadline.in(limit);
        while (true) {
            try {
                Files.delete(group);
                return;
            } catch (FileSystemException busy) {
                if (deadline.over() || !"Device or resource busy".equals(busy.getReason())) {
                    throw busy;
                }
                LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
            }
        }
    }
}
