package hprofrs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/** Finds the native library for this JVM, and loads it. */
final class Library {
    /** System property: a file to load instead of a copy of that in the jar. */
    static final String FILE_PROPERTY = "hprofrs.library";

    private static final String NAME = "libhprof_rs.so";

    private static Path copy;

    private Library() {}

    /** For the start of another JVM: the file that the property names, or a copy that lives as long as this JVM. */
    static synchronized Path file() throws IOException {
        String named = System.getProperty(FILE_PROPERTY);
        if (named != null) {
            return Paths.get(named).toAbsolutePath();
        }
        if (copy == null) {
            try (InputStream library = inJar()) {
                Path folder = Files.createTempDirectory("hprof-rs");
                Path file = folder.resolve(NAME);
                // Deleted in the opposite order.
                folder.toFile().deleteOnExit();
                file.toFile().deleteOnExit();
                Files.copy(library, file);
                copy = file;
            }
        }
        return copy;
    }

    /** @throws UnsatisfiedLinkError if there is no library for this JVM, or it cannot be loaded; the message has the reason */
    static void load() {
        String named = System.getProperty(FILE_PROPERTY);
        if (named != null) {
            System.load(Paths.get(named).toAbsolutePath().toString());
            return;
        }
        try (InputStream library = inJar()) {
            loadCopy(library);
        } catch (IOException e) {
            throw new UnsatisfiedLinkError("the library cannot be copied to " + System.getProperty("java.io.tmpdir")
                    + ": " + e + "; name a file with -D" + FILE_PROPERTY + "=FILE");
        }
    }

    private static InputStream inJar() {
        InputStream library = Library.class.getResourceAsStream("/META-INF/hprof-rs/" + triple() + "/" + NAME);
        if (library == null) {
            throw new UnsatisfiedLinkError("the jar has no library for " + triple() + "; name a file with -D" + FILE_PROPERTY
                    + "=FILE");
        }
        return library;
    }

    private static void loadCopy(InputStream library) throws IOException {
        Path folder = Files.createTempDirectory("hprof-rs");
        Path copy = folder.resolve(NAME);
        try {
            Files.copy(library, copy);
            System.load(copy.toString());
        } catch (UnsatisfiedLinkError e) {
            throw new UnsatisfiedLinkError(e.getMessage() + "; if the folder is mounted without permission to execute, "
                    + "name another one with -Djava.io.tmpdir=FOLDER, or a file with -D" + FILE_PROPERTY + "=FILE");
        } finally {
            // A library that is loaded needs its name no more.
            Files.deleteIfExists(copy);
            Files.delete(folder);
        }
    }

    /** The target that this JVM was built for. */
    static String triple() {
        String system = System.getProperty("os.name");
        String processor = System.getProperty("os.arch");
        if (!system.equals("Linux")) {
            throw new UnsatisfiedLinkError("hprof-rs runs on Linux, this is " + system);
        }
        String known = processor.equals("amd64") ? "x86_64" : processor;
        return known + "-unknown-linux-" + (isMusl() ? "musl" : "gnu");
    }

    /** Whether the JVM's C library is musl, by the files that are mapped. */
    private static boolean isMusl() {
        try {
            String maps = new String(Files.readAllBytes(Paths.get("/proc/self/maps")), StandardCharsets.ISO_8859_1);
            return maps.contains("/ld-musl-") || maps.contains("-linux-musl/libc.so");
        } catch (IOException e) {
            return false;
        }
    }
}
