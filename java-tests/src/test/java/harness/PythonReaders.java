package harness;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Foreign readers of profiles as text, which people used with the JDK's own agent. */
public final class PythonReaders {
    /** A node of a graph, its time with what it calls and in brackets without; an edge has other words after its name. */
    private static final Pattern NODE = Pattern.compile("\t\"([^\"]+)\" \\[.*label=\"[^\"]*\\\\n[\\d.]+%\\\\n\\(([\\d.]+)%\\).*");

    private PythonReaders() {}

    /** What part of all each method has itself, in per cent with two decimals, as gprof2dot draws it. */
    public static Map<String, Double> gprof2dot(Path report) {
        Map<String, Double> percents = new HashMap<>();
        String graph = Command.run("python3", Tools.python("gprof2dot.py"), "-f", "hprof", "-n", "0", "-e", "0", report).good().out;
        for (String line : graph.split("\n")) {
            Matcher node = NODE.matcher(line);
            if (node.matches()) {
                percents.put(node.group(1), Double.parseDouble(node.group(2)));
            }
        }
        return percents;
    }

    /** Samples by stack, the outermost call first, as hprof2flamegraph folds them for a flame graph. */
    public static Map<List<String>, Long> stackcollapse(Path report) {
        Map<List<String>, Long> stacks = new HashMap<>();
        for (String line : stackcollapse(report, "--discard-lineno", "--discard-thread").good().out.split("\n")) {
            int space = line.lastIndexOf(' ');
            stacks.merge(Arrays.asList(line.substring(0, space).split(";")), Long.parseLong(line.substring(space + 1)), Long::sum);
        }
        return stacks;
    }

    /** The same with other options, as it comes. */
    public static Command stackcollapse(Path report, String... options) {
        Object[] words = new Object[options.length + 3];
        words[0] = "python3";
        words[1] = Tools.python("stackcollapse_hprof.py");
        words[2] = report;
        System.arraycopy(options, 0, words, 3, options.length);
        return Command.run(words);
    }
}
