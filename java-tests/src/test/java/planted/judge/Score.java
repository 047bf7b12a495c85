package planted.judge;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Prints how many facts of each planted leak `hprof leaks` finds. The first argument is the folder of the dumps, which are made
 * if they are not there; `-v` prints each first sentence and each fact that is missing; further words choose kinds by their names.
 */
public final class Score {
    private Score() {}

    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args[0]).toAbsolutePath();
        boolean isVerbose = List.of(args).contains("-v");
        List<String> words = List.of(args).stream().skip(1).filter(word -> !word.equals("-v")).collect(Collectors.toList());
        for (Kind kind : Kind.all()) {
            if (words.isEmpty() || words.stream().anyMatch(kind.name::contains)) {
                Path dump = folder.resolve(kind.name + ".hprof");
                make(kind, dump);
                print(kind, Answer.ours("--no-index", dump), isVerbose);
            }
        }
        System.out.println(total);
    }

    private static final int[] SUMS = new int[4];
    private static String total = "";

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

    private static void print(Kind kind, Answer answer, boolean isVerbose) {
        long first = kind.first.stream().filter(fact -> fact.isIn(answer.sentence)).count();
        long screen = kind.screen.stream().filter(fact -> fact.isIn(answer.screen)).count();
        System.out.printf("%-28s first %d of %d, screen %d of %d%n", kind.name, first, kind.first.size(), screen, kind.screen.size());
        if (isVerbose) {
            System.out.println("    " + answer.sentence);
            answer.facts(kind, false).forEach(fact -> System.out.println("    missing: " + fact));
        }
        long[] row = {first, kind.first.size(), screen, kind.screen.size()};
        for (int i = 0; i < row.length; i++) {
            SUMS[i] += row[i];
        }
        total = String.format("%-28s first %d of %d, screen %d of %d", "all", SUMS[0], SUMS[1], SUMS[2], SUMS[3]);
    }
}
