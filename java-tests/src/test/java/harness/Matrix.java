package harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/**
 * Which rows of the matrix of runtimes and collectors run. Rows that differ only in these make the same claim: one of them
 * is run by default, another one after the next commit. `-Dmatrix=whole` runs all, `-Dmatrix=rest` all that the default
 * leaves out; `-Djdk=` and `-Dsetup=` choose the rows themselves.
 */
enum Matrix {
    /** One row of each claim, and those of failed-before.txt. */
    THIN,
    /** All rows. */
    WHOLE,
    /** The rows that are not in THIN. */
    REST;

    /** Rows that have found a fault once: the test and words of the row. */
    static final List<String[]> FAILED_BEFORE = failedBefore();

    static Matrix current() {
        boolean isChosen = Stream.of("jdk", "setup", "foreign").anyMatch(name -> !System.getProperty(name, "").isBlank());
        return isChosen ? WHOLE : valueOf(System.getProperty("matrix", "thin").toUpperCase());
    }

    /** Those of a test's rows that are run. */
    List<Arguments> of(Method test, List<Arguments> rows) {
        if (this == WHOLE || OncePerRun.isLate(test)) {
            return rows;
        }
        List<Arguments> thin = thin(test, rows, turn());
        return rows.stream().filter(row -> thin.contains(row) == (this == THIN)).collect(Collectors.toList());
    }

    /** The default rows after so many commits: each commit takes the next row of each claim. */
    static List<Arguments> thin(Method test, List<Arguments> rows, int turn) {
        if (test.isAnnotationPresent(Whole.class)) {
            return rows;
        }
        String name = name(test);
        Map<String, List<Arguments>> claims = new LinkedHashMap<>();
        rows.forEach(row -> claims.computeIfAbsent(claim(test, row), key -> new ArrayList<>()).add(row));
        List<Arguments> thin = rows.stream().filter(row -> hasFailed(name, row)).collect(Collectors.toList());
        claims.forEach((claim, alike) -> thin.add(alike.get(Math.floorMod((name + claim).hashCode() + turn, alike.size()))));
        return thin;
    }

    /** The number of commits. */
    static int turn() {
        return Integer.getInteger("turn", 0);
    }

    static String name(Method test) {
        return test.getDeclaringClass().getSimpleName() + "#" + test.getName();
    }

    /** What a row claims beside where it is run: its other arguments, and the runtime if each is a claim of its own. */
    private static String claim(Method test, Arguments row) {
        boolean isOfEachJdk = test.isAnnotationPresent(EachJdk.class);
        return Stream.of(row.get())
                .map(argument -> !isPlace(argument) ? argument + "" : isOfEachJdk ? jdk(argument) : "")
                .collect(Collectors.joining(" "));
    }

    private static boolean isPlace(Object argument) {
        return argument instanceof Jdk || argument instanceof Setup || argument instanceof Collector;
    }

    private static String jdk(Object place) {
        return place instanceof Setup ? ((Setup) place).jdk.version : place instanceof Jdk ? place.toString() : "";
    }

    private static boolean hasFailed(String name, Arguments row) {
        String words = Stream.of(row.get()).map(Object::toString).collect(Collectors.joining(" "));
        return FAILED_BEFORE.stream().anyMatch(
                failed -> failed[0].equals(name) && Stream.of(failed).skip(1).allMatch(words::contains));
    }

    private static List<String[]> failedBefore() {
        try (Stream<String> lines = Files.lines(Tools.source("harness/failed-before.txt"), StandardCharsets.UTF_8)) {
            return lines.filter(line -> !line.startsWith("#") && !line.isBlank()).map(line -> line.split(" +")).collect(Collectors.toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
