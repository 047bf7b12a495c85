package real;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import planted.judge.Fact;

/** A program of programs/leaks or programs/healthy, and what the lines `// WORD  TEXT` at its top say. */
final class Program {
    private static final Pattern LINE = Pattern.compile("// (\\w+) +(\\S.*)");
    private static final Set<String> OF_LEAKS =
            Set.of("report", "leaks", "mended", "java", "class", "number", "holder", "reason", "change", "options", "release");
    private static final Set<String> OF_HEALTHY = Set.of("uses", "java", "largest", "options", "release");
    /** The facts that are judged, in the order of the tables. */
    static final List<String> FACTS = List.of("class", "number", "holder", "reason");
    private static final Map<String, String> KINDS = Map.of("class", "class ", "number", "number ", "holder", "says ", "reason", "says ");

    final Path source;
    final String name;
    final boolean isLeak;
    private final Map<String, String> says = new TreeMap<>();

    private Program(Path source) throws IOException {
        this.source = source;
        name = source.getFileName().toString().replace(".java", "");
        isLeak = source.getParent().endsWith("leaks");
        for (String line : Files.readAllLines(source)) {
            Matcher parts = LINE.matcher(line);
            if (!parts.matches()) {
                break;
            }
            says.merge(parts.group(1), parts.group(2), (first, more) -> first + " " + more);
        }
        check();
    }

    static List<Program> all(Path folder) throws IOException {
        List<Program> all = new ArrayList<>();
        for (String kind : List.of("leaks", "healthy")) {
            try (Stream<Path> files = Files.list(folder.resolve(kind))) {
                for (Path file : files.sorted().collect(Collectors.toList())) {
                    all.add(new Program(file));
                }
            }
        }
        return all;
    }

    /** What is declared must be whole and known. */
    private void check() {
        Set<String> known = isLeak ? OF_LEAKS : OF_HEALTHY;
        List<String> needed = isLeak ? Stream.concat(FACTS.stream(), Stream.of("report", "leaks", "mended", "java", "change")).collect(Collectors.toList())
                : List.of("uses", "java", "largest");
        if (!known.containsAll(says.keySet()) || !says.keySet().containsAll(needed)) {
            throw new IllegalArgumentException(source + " says " + says.keySet() + ", but must say " + needed);
        }
        facts();
    }

    String says(String word) {
        return says.getOrDefault(word, "");
    }

    /** By name. Those of a healthy program: what is largest. */
    Map<String, Fact> facts() {
        Map<String, Fact> facts = new LinkedHashMap<>();
        for (String fact : isLeak ? FACTS : List.of("largest")) {
            facts.put(fact, Fact.of(fact + ": " + KINDS.getOrDefault(fact, "says ") + says(fact)));
        }
        return facts;
    }

    /** The run that leaks, or that of the healthy program. */
    Run run() {
        return new Run(this, "", isLeak ? says("leaks") : says("uses"), says("java"), false);
    }

    /** `mended` says a Java, or the same libraries in another version, or `use`: the program does it otherwise if it has an argument. */
    Run mended() {
        String mended = says("mended");
        if (mended.startsWith("use")) {
            return new Run(this, ".mended", says("leaks"), says("java"), true);
        }
        return mended.startsWith("java ") ? new Run(this, ".mended", says("leaks"), mended.substring(5), false)
                : new Run(this, ".mended", mended, says("java"), false);
    }

    List<Run> runs() {
        return isLeak ? List.of(run(), mended()) : List.of(run());
    }

    List<String> words(String word) {
        return Arrays.stream(says(word).split(" ")).filter(part -> !part.isEmpty()).collect(Collectors.toList());
    }

    @Override
    public String toString() {
        return name;
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
