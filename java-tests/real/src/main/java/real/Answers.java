package real;

import harness.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import planted.judge.Answer;
import planted.judge.Fact;
import planted.judge.Peer;

/**
 * Prints what `hprof leaks` and its peers know of real leaks, and whether they accuse programs that do not leak. The first argument
 * is the folder of the dumps, which are made if they are not there; `-v` prints each first sentence of ours that lacks a fact, or
 * accuses; `-n` makes the dumps alone and asks nobody; further words choose programs by parts of their names.
 */
public final class Answers {
    /** How ours says that nothing leaks. MAT and hprof-analyzer have no first suspect then, so no sentence. */
    private static final Pattern CALM = Pattern.compile("does not look like a leak|^No (?:object|root)\\b");
    /** How ours says that one dump does not tell: no accusation, but no answer either. */
    private static final Pattern OPEN = Pattern.compile("a second dump shows whether it grows");
    private static final Pattern HOLDS = Pattern.compile("; (?:it holds|they hold) [^;]*");
    private static final Pattern HELD = Pattern.compile(", (?:\\d+ % of them )?held by [^;]*");
    private static final String OURS = "hprof";

    private final Path folder;
    private final boolean isVerbose;
    private final ClassPaths paths;
    private final Map<String, Map<String, Integer>> sums = new LinkedHashMap<>();

    private Answers(Path folder, boolean isVerbose) {
        this.folder = folder;
        this.isVerbose = isVerbose;
        paths = new ClassPaths(folder.resolve("libraries"));
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        List<String> words = Arrays.stream(args).skip(1).filter(word -> !word.startsWith("-")).collect(Collectors.toList());
        List<Program> programs = Program.all(Tools.project().resolve("java-tests/real/programs")).stream()
                .filter(program -> words.isEmpty() || words.stream().anyMatch(program.name::contains)).collect(Collectors.toList());
        Answers answers = new Answers(Files.createDirectories(Path.of(args[0])).toAbsolutePath(), List.of(args).contains("-v"));
        answers.paths.find(programs.stream().flatMap(program -> program.runs().stream()).collect(Collectors.toList()));
        if (List.of(args).contains("-n")) {
            answers.make(programs);
            return;
        }
        answers.print(programs.stream().filter(program -> program.isLeak).collect(Collectors.toList()), true);
        answers.print(programs.stream().filter(program -> !program.isLeak).collect(Collectors.toList()), false);
    }

    private void make(List<Program> programs) throws InterruptedException {
        for (Program program : programs) {
            for (Run run : program.runs()) {
                try {
                    run.dump(folder, paths);
                } catch (IOException e) {
                    System.err.println(run.name + ": " + e.getMessage());
                }
            }
        }
    }

    private void print(List<Program> programs, boolean areLeaks) throws InterruptedException {
        if (programs.isEmpty()) {
            return;
        }
        sums.clear();
        List<String> titles = new ArrayList<>(List.of(OURS));
        Peer.present().forEach(peer -> titles.add(peer.title));
        String first = areLeaks ? "| leak | report |" : "| healthy program |";
        System.out.println("\n" + first + titles.stream().map(title -> " " + title + " |").collect(Collectors.joining()));
        System.out.println((areLeaks ? "|---|---|" : "|---|") + "--:|".repeat(titles.size()));
        int all = 0;
        for (Program program : programs) {
            try {
                String cells = ask(program).values().stream().map(cell -> " " + cell + " |").collect(Collectors.joining());
                System.out.println("| `" + program.name + "` |" + (areLeaks ? " " + program.says("report") + " |" : "") + cells);
                all++;
            } catch (IOException | AssertionError e) {
                System.err.println(program + ": " + e.getMessage());
            }
        }
        System.out.println("\nof " + all + ":");
        sums.forEach((tool, counts) -> System.out.println("    " + tool + ": " + counts));
    }

    /** By tool, what stands in its column. */
    private Map<String, String> ask(Program program) throws IOException, InterruptedException {
        Path dump = program.run().dump(folder, paths);
        Path mended = program.isLeak ? program.mended().dump(folder, paths) : null;
        Map<String, String> cells = new LinkedHashMap<>();
        cells.put(OURS, cell(program, OURS, ours(dump), mended == null ? null : ours(mended)));
        for (Peer peer : Peer.present()) {
            cells.put(peer.title, cell(program, peer.title, peer.answer(dump), mended == null ? null : peer.answer(mended)));
        }
        return cells;
    }

    /** What ours says is kept beside the dump. */
    private static Answer ours(Path dump) throws IOException {
        Answer answer = Answer.ours(dump);
        Files.writeString(Path.of(dump + ".hprof.txt"), answer.screen);
        return answer;
    }

    /** The facts that are found, and whether what does not leak is accused. */
    private String cell(Program program, String tool, Answer answer, Answer mended) {
        List<String> missing = program.facts().values().stream().filter(fact -> !isIn(fact, answer.sentence)).map(fact -> fact.name)
                .collect(Collectors.toList());
        program.facts().keySet().forEach(fact -> count(tool, fact, !missing.contains(fact)));
        Answer healthy = program.isLeak ? mended : answer;
        boolean isOpen = isOpen(healthy);
        boolean isAlarm = accuses(healthy);
        count(tool, "false alarms", isAlarm);
        count(tool, "healthy, left open", isOpen);
        String cell;
        if (program.isLeak) {
            count(tool, "leaks, left open", isOpen(answer));
            count(tool, "whole sentences", missing.isEmpty());
            count(tool, "whole but for the reason", missing.isEmpty() || missing.equals(List.of("reason")));
            cell = (missing.isEmpty() ? "all 4" : (4 - missing.size()) + " (no " + String.join(", ", missing) + ")") + (isAlarm ? ", false alarm" : isOpen ? ", mended left open" : "");
        } else {
            cell = (isAlarm ? "**false alarm**" : isOpen ? "left open" : "calm") + (missing.isEmpty() ? "" : ", not the largest");
        }
        if (isVerbose && tool.equals(OURS) && (isAlarm || isOpen || !missing.isEmpty())) {
            System.out.println("\n" + program + (missing.isEmpty() ? "" : " lacks " + missing) + "\n    " + answer.sentence);
            if (program.isLeak && (isAlarm || isOpen)) {
                System.out.println("    mended: " + mended.sentence);
            }
        }
        return cell;
    }

    /** What a thing holds does not hold it, and what holds it is not the thing. */
    private static boolean isIn(Fact fact, String sentence) {
        switch (fact.name) {
            case "holder":
                return fact.isIn(HOLDS.matcher(sentence).replaceAll(""));
            case "class":
                return fact.isIn(HELD.matcher(sentence).replaceAll(""));
            default:
                return fact.isIn(sentence);
        }
    }

    private static boolean accuses(Answer answer) {
        return !answer.sentence.isEmpty() && !CALM.matcher(answer.sentence).find() && !isOpen(answer);
    }

    private static boolean isOpen(Answer answer) {
        return OPEN.matcher(answer.sentence).find();
    }

    private void count(String tool, String what, boolean is) {
        sums.computeIfAbsent(tool, key -> new LinkedHashMap<>()).merge(what, is ? 1 : 0, Integer::sum);
    }
}
