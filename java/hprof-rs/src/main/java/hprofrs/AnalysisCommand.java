package hprofrs;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The command {@code hprof}: that in the jar, or the one that the system property {@value #FILE_PROPERTY} names. */
public final class AnalysisCommand {
    /** System property: a file to run instead of a copy of that in the jar. */
    public static final String FILE_PROPERTY = "hprofrs.command";

    private static Path copy;

    private AnalysisCommand() {}

    /** The command's output. */
    public static final class Answer {
        /** Its exit code: 0 if it answered. */
        public final int code;
        /** Its standard output, line by line. */
        public final List<String> lines;
        /** Its messages. */
        public final String errors;

        private Answer(int code, List<String> lines, String errors) {
            this.code = code;
            this.lines = lines;
            this.errors = errors;
        }
    }

    /**
     * Runs the command, in a process of its own, and waits for its end.
     *
     * @param arguments what follows {@code hprof}
     * @throws IOException if there is no command, or it cannot be started
     */
    public static Answer run(String... arguments) throws IOException {
        List<String> words = new ArrayList<>();
        words.add(file().toString());
        words.addAll(Arrays.asList(arguments));
        Path folder = Files.createTempDirectory("hprof-rs");
        File output = folder.resolve("out").toFile();
        File errors = folder.resolve("err").toFile();
        try {
            int code = new ProcessBuilder(words).redirectOutput(output).redirectError(errors).start().waitFor();
            return new Answer(code, Files.readAllLines(output.toPath()),
                    new String(Files.readAllBytes(errors.toPath()), StandardCharsets.UTF_8).trim());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while hprof ran", e);
        } finally {
            Files.deleteIfExists(output.toPath());
            Files.deleteIfExists(errors.toPath());
            Files.delete(folder);
        }
    }

    /**
     * The file of the command. The copy of that in the jar lives as long as this JVM.
     *
     * @throws IOException if the jar has no command for this processor, or it cannot be copied
     */
    public static synchronized Path file() throws IOException {
        String named = System.getProperty(FILE_PROPERTY);
        if (named != null) {
            return Paths.get(named).toAbsolutePath();
        }
        if (copy == null) {
            copy = copied();
        }
        return copy;
    }

    private static Path copied() throws IOException {
        String processor = System.getProperty("os.arch").replace("amd64", "x86_64");
        try (InputStream command = AnalysisCommand.class.getResourceAsStream("/META-INF/hprof-rs/" + processor + "/hprof")) {
            if (command == null) {
                throw new IOException("the jar has no command for " + processor + "; name a file with -D" + FILE_PROPERTY + "=FILE");
            }
            Path folder = Files.createTempDirectory("hprof-rs");
            Path file = folder.resolve("hprof");
            // Deleted in the opposite order.
            folder.toFile().deleteOnExit();
            file.toFile().deleteOnExit();
            Files.copy(command, file);
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
            return file;
        }
    }
}
