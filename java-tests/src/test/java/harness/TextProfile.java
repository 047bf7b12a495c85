package harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The rows of CPU SAMPLES or CPU TIME of a text, with the stacks that they name. */
public final class TextProfile {
    private static final Pattern TRACE = Pattern.compile("TRACE (\\d+):( \\(thread=\\d+\\))?");
    private static final Pattern ROW = Pattern.compile(" *\\d+ +[\\d.]+% +[\\d.]+% +(\\d+) +(\\d+) (\\S+)");

    /** The counts, by method; for CPU TIME these are calls. */
    public final Map<String, Long> self = new HashMap<>();
    /** The counts, by stack: methods without lines, the outermost first. */
    public final Map<List<String>, Long> stacks = new HashMap<>();
    public long total;

    public TextProfile(Path file) {
        Map<String, List<String>> traces = new HashMap<>();
        List<String> trace = List.of();
        boolean isInside = false;
        for (String line : lines(file)) {
            Matcher heading = TRACE.matcher(line);
            Matcher row = ROW.matcher(line);
            if (heading.matches()) {
                trace = new ArrayList<>();
                traces.put(heading.group(1), trace);
            } else if (line.startsWith("CPU ")) {
                isInside = line.contains(" BEGIN (total = ");
            } else if (isInside && row.matches()) {
                add(Long.parseLong(row.group(1)), traces.get(row.group(2)), row.group(3));
            } else if (line.startsWith("\t") && line.endsWith(")")) {
                trace.add(0, line.substring(1, line.lastIndexOf('(')));
            }
        }
    }

    private static List<String> lines(Path file) {
        try {
            return List.of(new String(Files.readAllBytes(file), StandardCharsets.UTF_8).split("\n"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void add(long count, List<String> stack, String method) {
        self.merge(method, count, Long::sum);
        stacks.merge(Collections.unmodifiableList(stack), count, Long::sum);
        total += count;
    }
}
