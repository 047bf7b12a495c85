package harness;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * Class files one after the other in one file, in the form that the example rewrite_classes takes and gives. Each has the
 * name of its module, or of its jar, and the path in that: {@code java.base/java/lang/Object.class}.
 */
public final class ClassFiles {
    private static final int BUFFER = 1 << 16;

    private final Path file;

    ClassFiles(Path file) {
        this.file = file;
    }

    /** Those of the modules of a runtime; with Java 8, of its jars. */
    public static ClassFiles of(Jdk jdk, Predicate<String> modules, Path file) {
        if (jdk.major == 8) {
            Path lib = jdk.home.resolve(Files.isDirectory(jdk.home.resolve("jre")) ? "jre/lib" : "lib");
            try (Stream<Path> files = Files.walk(lib)) {
                List<Path> jars = files.filter(path -> path.toString().endsWith(".jar"))
                        .filter(path -> modules.test(module(path))).sorted().collect(Collectors.toList());
                return of(jars, file);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        Map<String, String> home = Map.of("java.home", jdk.home.toString());
        try (FileSystem image = FileSystems.newFileSystem(URI.create("jrt:/"), home);
                DataOutputStream out = output(file)) {
            Path root = image.getPath("/modules");
            try (Stream<Path> folders = Files.list(root)) {
                for (Path module : (Iterable<Path>) folders.sorted()::iterator) {
                    if (modules.test(module.getFileName().toString())) {
                        writeModule(root, module, out);
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new ClassFiles(file);
    }

    /** Those of these jars. */
    public static ClassFiles of(List<Path> jars, Path file) {
        try (DataOutputStream out = output(file)) {
            for (Path jar : jars) {
                try (ZipInputStream in = new ZipInputStream(input(jar))) {
                    for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
                        if (entry.getName().endsWith(".class")) {
                            write(module(jar) + "/" + entry.getName(), in.readAllBytes(), out);
                        }
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new ClassFiles(file);
    }

    private static void writeModule(Path root, Path module, DataOutputStream out) throws IOException {
        try (Stream<Path> paths = Files.walk(module)) {
            for (Path path : (Iterable<Path>) paths.filter(path -> path.toString().endsWith(".class"))::iterator) {
                write(root.relativize(path).toString(), Files.readAllBytes(path), out);
            }
        }
    }

    private static void write(String name, byte[] bytes, DataOutputStream out) throws IOException {
        out.writeUTF(name);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    /** Takes name and bytes of one after the other. */
    public void forEach(BiConsumer<String, byte[]> taker) {
        try (DataInputStream in = input(file)) {
            while (hasMore(in)) {
                taker.accept(in.readUTF(), bytes(in));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The names of those that are not the same in another file, where all must be in the same order. */
    public List<String> differences(ClassFiles others) {
        List<String> different = new ArrayList<>();
        try (DataInputStream in = input(others.file)) {
            forEach((name, bytes) -> {
                try {
                    if (!hasMore(in) || !in.readUTF().equals(name) | !Arrays.equals(bytes(in), bytes)) {
                        different.add(name);
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            if (hasMore(in)) {
                different.add(in.readUTF());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return different;
    }

    private static boolean hasMore(DataInputStream in) throws IOException {
        in.mark(1);
        boolean more = in.read() >= 0;
        in.reset();
        return more;
    }

    private static byte[] bytes(DataInputStream in) throws IOException {
        return in.readNBytes(in.readInt());
    }

    /** The jar's name without its ending. */
    private static String module(Path jar) {
        return jar.getFileName().toString().replaceAll("\\.jar$", "");
    }

    private static DataInputStream input(Path file) throws IOException {
        return new DataInputStream(new BufferedInputStream(Files.newInputStream(file), BUFFER));
    }

    private static DataOutputStream output(Path file) throws IOException {
        return new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file), BUFFER));
    }

    @Override
    public String toString() {
        return file.toString();
    }
}
