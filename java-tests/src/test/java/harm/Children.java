package harm;

import harness.Deadline;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** What the system knows of a process from outside: its children, zombies included, and its open descriptors. */
final class Children {
    private Children() {}

    /** The children as {@code number (name) state}, in no order. */
    static List<String> of(long parent) {
        List<String> children = new ArrayList<>();
        for (Path entry : entries(Paths.get("/proc"))) {
            String stat = stat(entry);
            // The name may hold anything but ends with the last parenthesis; state and parent follow.
            int end = stat.lastIndexOf(") ");
            if (end > 0 && stat.substring(end + 4).startsWith(parent + " ")) {
                children.add(stat.substring(0, end + 3));
            }
        }
        return children;
    }

    /**
     * Waits until there is none, zombies included, and no handle of one (a pidfd): the word of a dump's end comes a little
     * before its child is gone, and the handle is closed after that.
     */
    static void awaitNone(long parent, Duration limit) {
        Deadline deadline = Deadline.in(limit);
        for (List<String> found = withHandles(parent); !found.isEmpty(); found = withHandles(parent)) {
            if (deadline.over()) {
                throw new AssertionError("time is up, there are children, zombies or handles of them: " + found);
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static List<String> withHandles(long parent) {
        List<String> found = of(parent);
        descriptors(parent).stream().filter(target -> target.contains("pidfd")).forEach(found::add);
        return found;
    }

    /** Waits until the process has ended, be it that nobody has waited for it. */
    static void awaitGone(long process, Duration limit) {
        Deadline deadline = Deadline.in(limit);
        for (String stat = stat(Paths.get("/proc/" + process)); !isGone(stat); stat = stat(Paths.get("/proc/" + process))) {
            if (deadline.over()) {
                throw new AssertionError("time is up, the process is still there: " + stat);
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static boolean isGone(String stat) {
        return stat.isEmpty() || stat.substring(stat.lastIndexOf(") ")).startsWith(") Z");
    }

    /** What the open descriptors lead to, sorted; numbers are left out, as those of sockets and pipes mean nothing. */
    static List<String> descriptors(long process) {
        List<String> targets = new ArrayList<>();
        for (Path entry : entries(Paths.get("/proc/" + process + "/fd"))) {
            try {
                targets.add(Files.readSymbolicLink(entry).toString().replaceAll("\\[\\d+]$", ""));
            } catch (IOException closed) {
                // Closed since it was listed: it is not open.
            }
        }
        targets.sort(null);
        return targets;
    }

    private static List<Path> entries(Path folder) {
        List<Path> entries = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(folder, "[0-9]*")) {
            stream.forEach(entries::add);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return entries;
    }

    private static String stat(Path process) {
        try {
            return new String(Files.readAllBytes(process.resolve("stat")), StandardCharsets.ISO_8859_1);
        } catch (IOException gone) {
            return "";
        }
    }
}
