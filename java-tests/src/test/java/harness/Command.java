package harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A command that is run to its end: exit code and output. */
public final class Command {
    private static final Duration LIMIT = Duration.ofSeconds(Integer.getInteger("patience", 60));

    public final List<String> words;
    public final int exit;
    public final String out;
    public final String err;

    private Command(List<String> words, int exit, String out, String err) {
        this.words = words;
        this.exit = exit;
        this.out = out;
        this.err = err;
    }

    public static Command run(Object... words) {
        String[] texts = Arrays.stream(words).map(Object::toString).toArray(String[]::new);
        Path out = null;
        Path err = null;
        try {
            out = Files.createTempFile("command", ".out");
            err = Files.createTempFile("command", ".err");
            Process process = new ProcessBuilder(texts).redirectOutput(out.toFile()).redirectError(err.toFile())
                    .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile())).start();
            if (!process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("time is up for " + String.join(" ", texts));
            }
            return new Command(List.of(texts), process.exitValue(), text(out), text(err));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        } finally {
            delete(out);
            delete(err);
        }
    }

    /** Sends a signal to a process. By the shell, which has `kill` of its own: minimal systems have no such program. */
    public static void kill(String signal, long pid) {
        run("sh", "-c", "kill -" + signal + " " + pid).good();
    }

    /** This command, which must have succeeded. */
    public Command good() {
        if (exit != 0) {
            throw new AssertionError(this + "");
        }
        return this;
    }

    @Override
    public String toString() {
        return String.join(" ", words) + "\nexit " + exit + "\n" + out + err;
    }

    private static String text(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }

    private static void delete(Path file) {
        try {
            if (file != null) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
