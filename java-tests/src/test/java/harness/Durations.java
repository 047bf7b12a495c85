package harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/** Where the seconds of a run go: the twenty slowest classes and methods at its end, all of them in target/durations/. */
public final class Durations implements TestExecutionListener {
    private static final int SHOWN = 20;
    /** The case that a thread is running. */
    private static final ThreadLocal<Spent> CURRENT = new ThreadLocal<>();

    private final Map<String, Spent> classes = new ConcurrentHashMap<>();
    private final Map<String, Spent> methods = new ConcurrentHashMap<>();
    private final Map<String, Spent> running = new ConcurrentHashMap<>();

    /** What a case, a method or a class took, in nanoseconds. */
    private static final class Spent {
        private long cases;
        private long nanos;
        private long startingNanos;

        private synchronized void add(Spent one, long took) {
            cases++;
            nanos += took;
            startingNanos += one.startingNanos;
        }

        private String row(String name) {
            return String.format("%-60s\t%d\t%.1f\t%.1f", name, cases, nanos / 1e9, startingNanos / 1e9);
        }
    }

    /** Adds the time until a JVM was ready to the case that this thread runs. */
    static void started(long nanos) {
        if (CURRENT.get() != null) {
            CURRENT.get().startingNanos += nanos;
        }
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        if (test.isTest()) {
            Spent spent = new Spent();
            spent.nanos = System.nanoTime();
            running.put(test.getUniqueId(), spent);
            CURRENT.set(spent);
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        Spent one = running.remove(test.getUniqueId());
        if (one != null && test.getSource().orElse(null) instanceof MethodSource) {
            MethodSource source = (MethodSource) test.getSource().get();
            long took = System.nanoTime() - one.nanos;
            CURRENT.remove();
            classes.computeIfAbsent(source.getClassName(), name -> new Spent()).add(one, took);
            methods.computeIfAbsent(source.getClassName() + "#" + source.getMethodName(), name -> new Spent()).add(one, took);
        }
    }

    @Override
    public void testPlanExecutionFinished(TestPlan plan) {
        List<String> rows = sorted(classes);
        rows.stream().limit(SHOWN).forEach(System.out::println);
        try {
            Path folder = Files.createDirectories(Tools.PROJECT.resolveSibling("target/durations"));
            Files.write(folder.resolve("java-classes-" + Matrix.current() + ".tsv"), rows);
            Files.write(folder.resolve("java-methods-" + Matrix.current() + ".tsv"), sorted(methods));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> sorted(Map<String, Spent> spent) {
        List<String> rows = spent.entrySet().stream()
                .sorted(Comparator.comparingLong((Map.Entry<String, Spent> row) -> -row.getValue().nanos))
                .map(row -> row.getValue().row(row.getKey())).collect(Collectors.toList());
        rows.add(0, String.format("%-60s\tcases\tseconds\tof which JVMs start", "test"));
        return rows;
    }
}
