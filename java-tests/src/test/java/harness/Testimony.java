package harness;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.function.Executable;

/** What a subject printed about its own heap, and the judges' comparison of that with a dump. */
public final class Testimony {
    private static final ExecutorService JUDGES = Executors.newFixedThreadPool(2, task -> {
        Thread thread = new Thread(task, "judge");
        thread.setDaemon(true);
        return thread;
    });

    private final List<String[]> lines;

    private Testimony(List<String[]> lines) {
        this.lines = lines;
    }

    public static Testimony of(Jvm jvm) {
        return new Testimony(jvm.out.lines().stream().map(line -> line.split(" ")).collect(Collectors.toList()));
    }

    /** The words of each line that starts with this one. */
    public List<String[]> all(String key) {
        return lines.stream().filter(line -> line[0].equals(key)).collect(Collectors.toList());
    }

    /** The dump is without fault, every judge reads it, and all agree with the subject and with each other. */
    public void mustHoldIn(Path dump) {
        Future<?> check = JUDGES.submit(() -> new HprofCheck(dump).good());
        mustAgreeWith(dump);
        result(check);
    }

    private void mustAgreeWith(Path dump) {
        // Two judges at a time: some are programs of their own, the others know nothing of each other.
        Future<Histogram> slurp = JUDGES.submit(() -> new SlurpReader(dump).histogram());
        Future<?> shark = JUDGES.submit(() -> {
            try (SharkReader reader = new SharkReader(dump)) {
                same(result(slurp), reader);
            }
        });
        Future<?> netBeans = JUDGES.submit(() -> mustAgree(slurp, dump));
        assertAll(dump.getFileName().toString(),
                () -> assertFalse(lines.isEmpty(), "the subject printed nothing"),
                () -> counts("hprof-slurp", result(slurp)),
                () -> same(result(slurp), new HprofCheck(dump)),
                () -> result(shark),
                () -> result(netBeans));
    }

    private void mustAgree(Future<Histogram> slurp, Path dump) {
        try (NetBeansReader reader = new NetBeansReader(dump)) {
            assertAll(() -> same(result(slurp), reader), () -> values(reader));
        }
    }

    /** What a judge found, or what it failed with. */
    private static <T> T result(Future<T> judge) {
        try {
            return judge.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof AssertionError ? (AssertionError) e.getCause() : new AssertionError(e.getCause());
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The numbers of instances, by one judge. */
    public void counts(String judge, Histogram histogram) {
        List<Executable> checks = new ArrayList<>();
        for (String[] line : all("EXPECT")) {
            checks.add(() -> assertEquals(Long.parseLong(line[1]), histogram.of(Names.source(line[2])), 
                    judge + ": instances of " + line[2]));
        }
        for (String[] line : all("ATLEAST")) {
            checks.add(() -> assertTrue(Long.parseLong(line[1]) <= histogram.of(Names.source(line[2])),
                    judge + ": " + histogram.of(Names.source(line[2])) + " instances of " + line[2] + ", not " + line[1]));
        }
        assertAll(checks);
    }

    /** The values of fields and strings, by one judge. */
    private void values(NetBeansReader view) {
        Set<String> strings = all("STRING").isEmpty() ? Set.of()
                : view.strings().stream().map(Values::escape).collect(Collectors.toSet());
        List<Executable> checks = new ArrayList<>();
        for (String[] line : all("STATIC")) {
            checks.add(() -> assertEquals(line[3], view.staticField(line[1], line[2]),
                    view.name() + ": " + line[1] + "." + line[2]));
        }
        for (String[] line : all("FIELD")) {
            checks.add(() -> assertEquals(line[4], view.field(line[1], line[2], line[3]),
                    view.name() + ": " + line[1] + ", " + line[2] + "." + line[3]));
        }
        for (String[] line : all("STRING")) {
            checks.add(() -> assertTrue(strings.contains(line[1]), view.name() + ": no string " + line[1]));
        }
        assertAll(checks);
    }

    private static void same(Histogram slurp, Judge judge) {
        // Class objects are class records; what a reader counts as instances of java.lang.Class is its own affair.
        assertEquals(Map.of(), slurp.without("java.lang.Class").to(judge.histogram().without("java.lang.Class")),
                "hprof-slurp to " + judge.name());
    }
}
