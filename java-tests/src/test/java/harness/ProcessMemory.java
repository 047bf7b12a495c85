package harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
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

    /** How many of its mappings have this flag, which proc_pid_smaps(5) lists. */
    public long mappings(String flag) {
        try (Stream<String> lines = Files.lines(folder.resolve("smaps"))) {
            return lines.filter(one -> one.startsWith("VmFlags:") && (one + " ").contains(" " + flag + " ")).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
