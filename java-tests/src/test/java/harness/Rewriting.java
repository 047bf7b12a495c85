package harness;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One run of the example rewrite_classes of the crate bytecode, and what it counted. */
public final class Rewriting {
    /** Nothing is put in: each method is taken apart and put together. */
    public static final String SAME = "every";
    /** All that can be put in. */
    public static final String EVERYTHING = "init,arrays,calls,every";

    private static final Pattern COUNTS = Pattern.compile(
            "(\\d+) classes, (\\d+) changed, (\\d+) methods rewritten, (\\d+) without handler, left alone: \\{(.*)}");
    private static final Pattern LEFT_ALONE = Pattern.compile("(\\w+): (\\d+)");

    public final ClassFiles result;
    public final int classes;
    public final int methods;
    /** The methods that kept their old code, by reason. */
    public final Map<String, Integer> leftAlone = new TreeMap<>();
    private final Command command;

    private Rewriting(ClassFiles from, String plan, Path to) {
        command = Command.run(Tools.rewriter(), from, to, plan).good();
        result = new ClassFiles(to);
        Matcher counts = COUNTS.matcher(command.out);
        if (!counts.find()) {
            throw new AssertionError("no counts from " + command);
        }
        classes = Integer.parseInt(counts.group(1));
        methods = Integer.parseInt(counts.group(3));
        Matcher reasons = LEFT_ALONE.matcher(counts.group(5));
        while (reasons.find()) {
            leftAlone.put(reasons.group(1), Integer.parseInt(reasons.group(2)));
        }
    }

    public static Rewriting of(ClassFiles from, String plan, Path to) {
        return new Rewriting(from, plan, to);
    }

    @Override
    public String toString() {
        return command.out + command.err;
    }
}
