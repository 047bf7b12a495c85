package harness;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** CPU samples by stack, as the `hprof convert` command reads them out of a report or a dump. */
public final class CpuStacks {
    /** Samples by stack, the outermost call first. */
    private final Map<List<String>, Long> stacks = new LinkedHashMap<>();

    public CpuStacks(Path file) {
        String folded = Command.run(Tools.command(), "convert", file, "-o", "-", "--to", "collapsed", "--from", "samples").good().out;
        for (String line : folded.split("\n")) {
            int space = line.lastIndexOf(' ');
            if (space > 0) {
                List<String> stack = Arrays.asList(line.substring(0, space).split(";"));
                stacks.merge(stack, Long.parseLong(line.substring(space + 1)), Long::sum);
            }
        }
    }

    public long total() {
        return of(stack -> true);
    }

    /** Samples with this method anywhere in their stack. */
    public long in(String method) {
        return of(stack -> stack.contains(method));
    }

    /** Every stack, the outermost call first. */
    public Set<List<String>> all() {
        return stacks.keySet();
    }

    /** Samples of such stacks. */
    public long of(Predicate<List<String>> kind) {
        return stacks.entrySet().stream().filter(entry -> kind.test(entry.getKey())).mapToLong(Map.Entry::getValue).sum();
    }

    @Override
    public String toString() {
        return stacks.toString();
    }
}
