package planted.judge;

import harness.Command;
import harness.Tools;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** What a tool answers to the question what leaks: the first sentence, and what one sees of the rest without scrolling. */
public final class Answer {
    private static final int COLUMNS = 100;
    private static final int ROWS = 40;

    public final String sentence;
    public final String screen;

    Answer(String sentence, String screen) {
        this.sentence = sentence;
        this.screen = screen;
    }

    /** Of `hprof leaks`, of a dump or with what else it takes. */
    public static Answer ours(Object... words) {
        List<Object> all = new ArrayList<>(List.of(Tools.command(), "leaks"));
        all.addAll(Arrays.asList(words));
        String text = Command.run(all.toArray()).good().out;
        return new Answer(sentence(text), screen(text));
    }

    /** The lines above the first that is empty or indented. */
    private static String sentence(String text) {
        return text.lines().takeWhile(line -> !line.isEmpty() && !line.startsWith(" ")).collect(Collectors.joining(" "));
    }

    /** What a terminal shows, which breaks lines. */
    static String screen(String text) {
        StringBuilder shown = new StringBuilder();
        int rows = ROWS;
        for (String line : text.split("\n")) {
            shown.append(line, 0, Math.min(line.length(), rows * COLUMNS)).append('\n');
            rows -= Math.max(1, (line.length() + COLUMNS - 1) / COLUMNS);
            if (rows <= 0) {
                break;
            }
        }
        return shown.toString();
    }
}
