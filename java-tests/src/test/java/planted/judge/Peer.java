package planted.judge;

import harness.Command;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Another tool that says what leaks; asked only if it is at hand. What it said of a dump is kept beside the dump. */
public enum Peer {
    /** `-Dmat=ParseHeapDump.sh`: the report of leak suspects, with the details of the first one. */
    MAT("Eclipse MAT") {
        @Override
        String ask(Path dump) throws IOException {
            Path folder = Files.createTempDirectory(dump.toAbsolutePath().getParent(), "mat");
            Path copy = Files.createLink(folder.resolve(dump.getFileName()), dump);
            Path zip = Path.of(copy.toString().replaceAll("\\.hprof$", "_Leak_Suspects.zip"));
            Command.run(program(), copy, "org.eclipse.mat.api:suspects").good();
            try (FileSystem report = FileSystems.newFileSystem(zip, (ClassLoader) null)) {
                String index = Files.readString(report.getPath("index.html"));
                Matcher details = Pattern.compile("href=\"(pages/[^\"]+)\"[^>]*>Details").matcher(index);
                String first = details.find() ? words(Files.readString(report.getPath(details.group(1)))) : "";
                // It begins with what the report has said.
                return words(index) + first.replaceFirst("(?s)^.*?\n(?=(?:Shortest Paths|Common Path|Accumulated|All ))", "");
            } finally {
                Command.run("rm", "-r", folder).good();
            }
        }

        @Override
        String sentence(String text) {
            return between(text, "Problem Suspect 1", "Keywords|\nDetails »|\nProblem Suspect 2");
        }

        /** A page's text, a line a block. */
        private String words(String html) {
            String text = html.replaceAll("(?s)<(script|style|head)\\b.*?</\\1>", "").replaceAll("\\s+", " ")
                    .replaceAll("</(?:p|div|h\\d|tr|table|ul|ol)>", "\n").replaceAll("<[^>]+>", " ").replace("&lt;", "<").replace("&gt;", ">")
                    .replace("&quot;", "\"").replace("&nbsp;", " ").replace("&raquo;", "»").replace("&#8203;", "").replace("&amp;", "&");
            // A row of a table has a link to its objects between the class and the number.
            String plain = text.replaceAll("(?:First [\\d,]+ of [\\d,]+|All|Only) objects?\\b", "").replaceAll(" +", " ");
            return plain.lines().map(String::strip).filter(line -> !line.isEmpty()).collect(Collectors.joining("\n", "", "\n"));
        }
    },

    /** `-Danalyzer=leak-suspects`, the program of tools/hprof-analyzer/: its part about leaks. */
    ANALYZER("hprof-analyzer") {
        @Override
        String ask(Path dump) {
            return Command.run(program(), dump).good().out;
        }

        @Override
        String sentence(String text) {
            return between(text, "### 1\\.", "\n(?:\\*\\*|\\||<)");
        }
    };

    public final String title;

    Peer(String title) {
        this.title = title;
    }

    /** Those at hand. */
    public static List<Peer> present() {
        List<Peer> present = new ArrayList<>();
        for (Peer peer : values()) {
            if (peer.program() != null) {
                present.add(peer);
            }
        }
        return present;
    }

    /** Its program, or null. */
    String program() {
        return System.getProperty(name().toLowerCase());
    }

    abstract String ask(Path dump) throws IOException;

    /** What it says first of the first suspect. */
    abstract String sentence(String text);

    public Answer answer(Path dump) {
        Path kept = dump.resolveSibling(dump.getFileName() + "." + name().toLowerCase() + ".txt");
        try {
            if (!Files.exists(kept) || Files.getLastModifiedTime(kept).compareTo(Files.getLastModifiedTime(dump)) < 0) {
                Files.writeString(kept, ask(dump));
            }
            String text = Files.readString(kept, StandardCharsets.UTF_8);
            return new Answer(sentence(text), Answer.screen(text));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String between(String text, String start, String end) {
        Matcher found = Pattern.compile("(?s)" + start + "(.*?)(?:" + end + "|$)").matcher(text);
        return found.find() ? found.group(1) : "";
    }
}
