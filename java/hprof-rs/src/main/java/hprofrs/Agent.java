package hprofrs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The native agent in this JVM. The library knows the class and its native method by name. */
final class Agent {
    /** The agent's answers, as {@code jcmd JVMTI.agent_load} prints them. */
    private static final int DONE = 0;
    private static final int BAD_OPTIONS = 100;

    private static boolean isLoaded;

    private Agent() {}

    /**
     * Executes a command.
     *
     * @return the last line that the agent said of it
     * @throws IllegalArgumentException if the options are wrong
     * @throws IOException if the command failed; the message is the agent's
     * @throws UnsatisfiedLinkError if the library cannot be loaded; the next command tries again
     */
    static synchronized String command(String options) throws IOException {
        if (!isLoaded) {
            Library.load();
            isLoaded = true;
        }
        // Readable to nobody else: messages name files and classes.
        Path answer = Files.createTempFile("hprof-rs", ".answer");
        try {
            int code = obey((options + ",answer=" + DumpOptions.fileName(answer)).getBytes(StandardCharsets.UTF_8));
            String said = lastLine(answer);
            if (code == BAD_OPTIONS) {
                throw new IllegalArgumentException(said);
            }
            if (code != DONE) {
                throw new IOException(said);
            }
            return said;
        } finally {
            Files.deleteIfExists(answer);
        }
    }

    private static native int obey(byte[] options);

    /** The last line of the answer, without the agent's name before it. */
    private static String lastLine(Path answer) throws IOException {
        String text = new String(Files.readAllBytes(answer), StandardCharsets.UTF_8).trim();
        String line = text.substring(text.lastIndexOf('\n') + 1);
        String name = "hprof-rs: ";
        if (line.isEmpty()) {
            return "the agent did not answer; its messages are on stderr";
        }
        return line.startsWith(name) ? line.substring(name.length()) : line;
    }
}
