package sites;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Jdks;
import harness.Jvm;
import harness.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What makes two allocations one site: the stack, as deep and exact as the options demand, and the thread if they ask for it. */
class OptionsTest {
    private static final Pattern START = Pattern.compile("THREAD START \\(obj=0, id = (\\d+), name=\"(.*)\", group=\"main\"\\)");
    private static final Pattern TRACE = Pattern.compile("TRACE (\\d+):(?: \\(thread=(\\d+)\\))?");
    private static final int ARRAYS_OF_BOTH = 6000;

    @TempDir Path folder;

    @Test
    void threadsAreKeptApart() throws IOException {
        List<String> lines = report(",thread=y");
        TreeMap<String, String> threads = new TreeMap<>();
        lines.stream().map(START::matcher).filter(Matcher::matches).forEach(start -> threads.put(start.group(1), start.group(2)));
        List<String> found = new ArrayList<>();
        for (String[] row : rows(lines)) {
            Matcher trace = trace(lines, row);
            found.add(threads.get(trace.group(2)) + " " + top(lines, row));
        }
        String make = " sites.Alike.make(Alike.java:";
        // Twice as many of the other's, in whatever order two lines of one thread come.
        List<String> others = List.of("other" + make + line("first") + ")", "other" + make + line("second") + ")");
        List<String> ones = List.of("one" + make + line("first") + ")", "one" + make + line("second") + ")");
        assertEquals(4, found.size(), found::toString);
        assertTrue(found.subList(0, 2).containsAll(others) && found.subList(2, 4).containsAll(ones), found::toString);
    }

    @Test
    void threadsAreOneIfNobodyAsks() throws IOException {
        List<String> lines = report("");
        List<String> found = new ArrayList<>();
        for (String[] row : rows(lines)) {
            found.add(top(lines, row));
        }
        found.sort(null);
        assertEquals(List.of("sites.Alike.make(Alike.java:" + line("first") + ")", "sites.Alike.make(Alike.java:" + line("second") + ")"),
                found);
        // The report begins with the threads that live, but no trace names one.
        assertTrue(lines.stream().anyMatch(line -> START.matcher(line).matches()), lines::toString);
        assertTrue(lines.stream().noneMatch(line -> line.contains("(thread=")), lines::toString);
    }

    @Test
    void withoutLineNumbersTheLinesOfAMethodAreOneSite() throws IOException {
        List<String> lines = report(",lineno=n");
        List<String[]> rows = rows(lines);
        assertEquals(1, rows.size(), lines::toString);
        assertEquals("sites.Alike.make(Alike.java:Unknown line)", top(lines, rows.get(0)));
        isAll(rows.get(0));
    }

    @Test
    void withoutAStackAClassIsOneSite() throws IOException {
        List<String> lines = report(",depth=0");
        List<String[]> rows = rows(lines);
        assertEquals(1, rows.size(), lines::toString);
        assertEquals("<empty>", top(lines, rows.get(0)));
        isAll(rows.get(0));
    }

    private List<String> report(String options) throws IOException {
        Path report = folder.resolve("sites.txt");
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).agent("heap=sites,maxcost=0,sampling=16k" + options + ",file=" + report)
                .run(Alike.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        return Files.readAllLines(report);
    }

    /** The table's rows about the program's arrays. */
    private static List<String[]> rows(List<String> lines) {
        List<String[]> rows = new ArrayList<>();
        int header = lines.indexOf(" rank   self  accum     bytes objs     bytes  objs trace name");
        for (String line : lines.subList(header + 1, lines.size() - 1)) {
            String[] words = line.trim().split(" +");
            if (words[8].equals("sites.Alike[]")) {
                rows.add(words);
            }
        }
        return rows;
    }

    private static Matcher trace(List<String> lines, String[] row) {
        return lines.stream().map(TRACE::matcher).filter(trace -> trace.matches() && trace.group(1).equals(row[7]))
                .findFirst().orElseThrow();
    }

    /** The first line of a row's stack. */
    private static String top(List<String> lines, String[] row) {
        return lines.get(lines.indexOf(trace(lines, row).group()) + 1).trim();
    }

    /** Some 2,700 of them are sampled. */
    private static void isAll(String[] row) {
        assertEquals(ARRAYS_OF_BOTH, Long.parseLong(row[4]), ARRAYS_OF_BOTH * 0.1, () -> String.join(" ", row));
    }

    /** The line of the source, counted from 1. */
    private static int line(String which) throws IOException {
        List<String> lines = Files.readAllLines(Tools.source("sites/Alike.java"));
        return 1 + lines.indexOf(lines.stream().filter(line -> line.contains("the " + which + " line")).findFirst().orElseThrow());
    }
}
