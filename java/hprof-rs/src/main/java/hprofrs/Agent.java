package hprofrs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
     * @return the agent's messages, line by line
     * @throws IllegalArgumentException if the options are wrong
     * @throws IOException if the command failed; the message is the agent's
     * @throws UnsatisfiedLinkError if the library cannot be loaded; the next command tries again
     */
    static synchronized List<String> command(String options) throws IOException {
        if (!isLoaded) {
            Library.load();
            isLoaded = true;
        }
        // Readable to nobody else: messages name files and classes.
        Path answer = Files.createTempFile("hprof-rs", ".answer");
        try {
            int code = obey((options + ",send=answer:" + DumpOptions.fileName(answer)).getBytes(StandardCharsets.UTF_8));
            List<String> said = linesOf(answer);
            String last = said.isEmpty() ? "the agent gave no reason; its messages are on stderr" : said.get(said.size() - 1);
            if (code == BAD_OPTIONS) {
                throw new IllegalArgumentException(last);
            }
            if (code != DONE) {
                throw new IOException(last);
            }
            return said;
        } finally {
            Files.deleteIfExists(answer);
        }
    }

    private static native int obey(byte[] options);

    /** The messages in the answer, without the agent's name. Lines that begin with {@code =} are for other programs. */
    private static List<String> linesOf(Path answer) throws IOException {
        String text = new String(Files.readAllBytes(answer), StandardCharsets.UTF_8);
        return Stream.of(text.split("\n")).filter(line -> !line.startsWith("= "))
                .map(line -> line.replaceFirst("^hprof-rs: ", "")).filter(line -> !line.isEmpty()).collect(Collectors.toList());
    }
}
