package harness;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** CPU samples by stack, as the `hprof convert` command reads them out of a report or a dump. */
public final class CpuStacks {
    /** A frame whose class is the file of a library: `libz.so.1.3.deflate`. No Java class has such a name. */
    private static final Pattern NATIVE = Pattern.compile(".+\\.so(\\.\\d+)*\\.[^.]+");

    /** Samples by stack, the outermost call first. */
    private final Map<List<String>, Long> stacks = new LinkedHashMap<>();

    public CpuStacks(Path... files) {
        for (Path file : files) {
            read(file);
        }
    }

    private void read(Path file) {
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

    /** Samples by the method that ran; what a native function took is its Java method's. */
    public Map<String, Long> self() {
        Map<String, Long> self = new HashMap<>();
        stacks.forEach((stack, count) -> self.merge(javaTop(stack), count, Long::sum));
        return self;
    }

    private static String javaTop(List<String> stack) {
        String top = stack.get(stack.size() - 1);
        return isNative(top) && stack.size() > 1 ? stack.get(stack.size() - 2) : top;
    }

    /** Whether a frame is a native function's, and not that of a Java method. */
    public static boolean isNative(String frame) {
        return NATIVE.matcher(frame).matches();
    }

    /** The stack with the most samples, the outermost call first. */
    public List<String> widest() {
        return stacks.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow().getKey();
    }

    /** Every stack, the outermost call first. */
    public Set<List<String>> all() {
        return stacks.keySet();
    }

    /** Samples by the methods in their stacks, each of which counts once. */
    public Map<String, Long> inclusive() {
        Map<String, Long> inclusive = new HashMap<>();
        stacks.forEach((stack, count) -> Set.copyOf(stack).forEach(method -> inclusive.merge(method, count, Long::sum)));
        return inclusive;
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
