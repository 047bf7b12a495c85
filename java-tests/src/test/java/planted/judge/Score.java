package planted.judge;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Prints a table of how many facts of planted leaks `hprof leaks` and its peers find, a row a file of programs. The first argument is
 * the folder of the dumps, which are made if they are not there; `-v` prints each first sentence of ours, and each fact that it
 * lacks, too; further words choose kinds by parts of their names.
 */
public final class Score {
    private static final String OURS = "hprof";

    private final Path folder;
    private final boolean isVerbose;
    private final Map<String, int[]> sums = new LinkedHashMap<>();

    private Score(Path folder, boolean isVerbose) {
        this.folder = folder;
        this.isVerbose = isVerbose;
    }

    public static void main(String[] args) throws IOException {
        List<String> words = Arrays.stream(args).skip(1).filter(word -> !word.equals("-v")).collect(Collectors.toList());
        List<Kind> kinds = Kind.all().stream().filter(kind -> words.isEmpty() || words.stream().anyMatch(kind.name::contains))
                .collect(Collectors.toList());
        new Score(Path.of(args[0]).toAbsolutePath(), List.of(args).contains("-v")).print(kinds);
    }

    private void print(List<Kind> kinds) throws IOException {
        List<String> titles = new ArrayList<>(List.of(OURS));
        Peer.present().forEach(peer -> titles.add(peer.title));
        String heads = titles.stream().map(title -> " " + title + " |").collect(Collectors.joining());
        System.out.println("| leaks | facts of the sentence |" + heads + " of the screen |" + heads);
        System.out.println("|---|" + "--:|".repeat(2 + 2 * titles.size()));
        Map<String, List<Kind>> files = new LinkedHashMap<>();
        kinds.forEach(kind -> files.computeIfAbsent(kind.name.split("\\.")[0], file -> new ArrayList<>()).add(kind));
        for (Map.Entry<String, List<Kind>> file : files.entrySet()) {
            Map<String, int[]> found = new LinkedHashMap<>();
            for (Kind kind : file.getValue()) {
                add(found(kind), found);
            }
            add(found, sums);
            System.out.println(row("`" + file.getKey() + "`, " + file.getValue().size(), file.getValue(), found));
        }
        System.out.println(row("all, " + kinds.size(), kinds, sums));
    }

    private static void add(Map<String, int[]> found, Map<String, int[]> sums) {
        found.forEach((title, counts) -> sums.merge(title, counts, (sum, more) -> new int[] {sum[0] + more[0], sum[1] + more[1]}));
    }

    /** By tool, how many facts its sentence and its screen have. */
    private Map<String, int[]> found(Kind kind) throws IOException {
        Path dump = folder.resolve(kind.name + ".hprof");
        make(kind, dump);
        Map<String, int[]> found = new LinkedHashMap<>();
        Answer ours = Answer.ours(dump);
        found.put(OURS, count(kind, ours));
        Peer.present().forEach(peer -> found.put(peer.title, count(kind, peer.answer(dump))));
        if (isVerbose) {
            System.out.println("\n" + kind + "\n    " + ours.sentence);
            kind.facts(ours, false).forEach(fact -> System.out.println("    missing: " + fact));
        }
        return found;
    }

    private static int[] count(Kind kind, Answer answer) {
        return new int[] {(int) kind.first.stream().filter(fact -> fact.isIn(answer.sentence)).count(),
            (int) kind.screen.stream().filter(fact -> fact.isIn(answer.screen)).count()};
    }

    private static String row(String name, List<Kind> kinds, Map<String, int[]> found) {
        int first = kinds.stream().mapToInt(kind -> kind.first.size()).sum();
        int screen = kinds.stream().mapToInt(kind -> kind.screen.size()).sum();
        return "| " + name + " | " + first + cells(found, 0) + " | " + screen + cells(found, 1) + " |";
    }

    private static String cells(Map<String, int[]> found, int which) {
        return found.values().stream().map(counts -> " | " + counts[which]).collect(Collectors.joining());
    }

    private static void make(Kind kind, Path dump) throws IOException {
        if (!Files.exists(dump) || isOlder(dump, kind.source())) {
            Path work = Files.createDirectories(dump.resolveSibling("work"));
            Files.deleteIfExists(work.resolve("leak.hprof"));
            Files.move(kind.dump(work), dump, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private static boolean isOlder(Path dump, Path source) throws IOException {
        return Files.getLastModifiedTime(dump).compareTo(Files.getLastModifiedTime(source)) < 0;
    }
}
