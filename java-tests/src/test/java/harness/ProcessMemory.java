package harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** The kernel's account of a process's memory. */
public final class ProcessMemory {
    private final Path folder;

    public ProcessMemory(long process) {
        folder = Paths.get("/proc/" + process);
    }

    /** One of the sums over all its mappings, such as Rss. */
    public long kilobytes(String name) {
        try (Stream<String> lines = Files.lines(folder.resolve("smaps_rollup"))) {
            String line = lines.filter(one -> one.startsWith(name + ":")).findFirst().orElseThrow();
            return Long.parseLong(line.replaceAll("\\D", ""));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The most that it ever had resident (VmHWM). */
    public long peakKilobytes() {
        try (Stream<String> lines = Files.lines(folder.resolve("status"))) {
            String line = lines.filter(one -> one.startsWith("VmHWM:")).findFirst().orElseThrow();
            return Long.parseLong(line.replaceAll("\\D", ""));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads again and again, as the kernel reports no change, until such a sum is below this. */
    public void awaitBelow(String name, long kilobytes, Duration limit) {
        Deadline deadline = Deadline.in(limit);
        for (long found = kilobytes(name); found >= kilobytes; found = kilobytes(name)) {
            if (deadline.over()) {
                throw new AssertionError("time is up, " + name + " is " + found + " kB and not below " + kilobytes);
            }
            LockSupport.parkNanos(50_000_000);
        }
    }

    /**
     * How many of its mappings a fork finds empty (MADV_WIPEONFORK, proc_pid_smaps(5)), without those that the kernel may empty
     * at any time: the C library has such for its random numbers.
     */
    public long emptyInForks() {
        try (Stream<String> lines = Files.lines(folder.resolve("smaps"))) {
            Stream<String> flags = lines.filter(one -> one.startsWith("VmFlags:")).map(one -> one + " ");
            return flags.filter(all -> all.contains(" wf ") && !all.contains(" dp ")).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
