package harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Who may read and write files. */
public final class Mode {
    private Mode() {}

    /** The files of a folder by name, such as {@code rw-r-----}. */
    public static Map<String, String> of(Path folder) {
        Map<String, String> modes = new TreeMap<>();
        try (Stream<Path> files = Files.list(folder).filter(Files::isRegularFile)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                modes.put(file.getFileName().toString(), PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return modes;
    }
}
