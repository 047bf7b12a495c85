package harness;

import static java.nio.file.StandardWatchEventKinds.ENTRY_CREATE;
import static java.nio.file.StandardWatchEventKinds.ENTRY_DELETE;
import static java.nio.file.StandardWatchEventKinds.ENTRY_MODIFY;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** A folder in which files are expected to appear or vanish. */
public final class Folder {
    private final Path path;

    public Folder(Path path) {
        this.path = path;
    }

    /** The names in it. */
    public TreeSet<String> names() {
        TreeSet<String> names = new TreeSet<>();
        try (Stream<Path> entries = Files.list(path)) {
            entries.forEach(entry -> names.add(entry.getFileName().toString()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return names;
    }

    /** The names in it that have to do with dumps: finished, unfinished or odd. */
    public TreeSet<String> dumps() {
        TreeSet<String> names = names();
        names.removeIf(name -> !name.contains(".hprof") && !name.contains(".part"));
        return names;
    }

    /** Waits for a file of this name. */
    public Path await(String name, Duration limit) {
        Path file = path.resolve(name);
        await(() -> Files.exists(file), name + " in " + path, limit);
        return file;
    }

    /** Waits for something that shows in the files of the folder. */
    public void await(BooleanSupplier there, String what, Duration limit) {
        Deadline deadline = Deadline.in(limit);
        try (WatchService watch = path.getFileSystem().newWatchService()) {
            path.register(watch, ENTRY_CREATE, ENTRY_DELETE, ENTRY_MODIFY);
            while (!there.getAsBoolean()) {
                WatchKey key = watch.poll(deadline.millis(), TimeUnit.MILLISECONDS);
                if (key == null && !there.getAsBoolean()) {
                    throw new AssertionError("time is up without " + what + "; there is " + names());
                }
                if (key != null) {
                    key.pollEvents();
                    key.reset();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
