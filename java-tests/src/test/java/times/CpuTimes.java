package times;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The block CPU TIME of a report, read by its layout. */
final class CpuTimes {
    /** A stack and what it cost. */
    static final class Row {
        final double percent;
        final long calls;
        final String method;
        /** Who called it; null if nobody that is timed did. */
        final String caller;
        /** The number of the thread; null if threads are not kept apart. */
        final String thread;

        Row(double percent, long calls, String method, String caller, String thread) {
            this.thread = thread;
            this.percent = percent;
            this.calls = calls;
            this.method = method;
            this.caller = caller;
        }
    }

    final List<String> lines;
    final List<Row> rows = new ArrayList<>();
    final long totalMillis;

    CpuTimes(Path file) throws IOException {
        lines = Files.readAllLines(file);
        assertTrue(lines.get(0).startsWith("JAVA PROFILE 1.0.1, created "), lines.get(0));
        int line = 0;
        while (!lines.get(line).startsWith("CPU TIME (ms) BEGIN (total = ")) {
            line++;
        }
        totalMillis = Long.parseLong(lines.get(line).replaceAll(".*total = (\\d+)\\).*", "$1"));
        for (line += 2; !lines.get(line).equals("CPU TIME (ms) END"); line++) {
            String[] words = lines.get(line).trim().split(" +");
            int trace = lines.indexOf("TRACE " + words[4] + ":");
            if (trace < 0) {
                String heading = "TRACE " + words[4] + ": (thread=";
                trace = lines.indexOf(lines.stream().filter(text -> text.startsWith(heading)).findFirst().get());
            }
            assertTrue(lines.get(trace + 1).startsWith("\t" + words[5] + "("), () -> words[5] + " and its trace");
            String caller = lines.get(trace + 2);
            rows.add(new Row(Double.parseDouble(words[1].replace("%", "")), Long.parseLong(words[3]), words[5],
                    caller.startsWith("\t") ? caller.trim().replaceAll("\\(.*", "") : null, thread(lines.get(trace))));
        }
    }

    private static String thread(String heading) {
        int at = heading.indexOf("(thread=");
        return at < 0 ? null : heading.substring(at + 8, heading.length() - 1);
    }

    /** How often a method was called, by whomever. */
    long calls(String method) {
        return rows.stream().filter(row -> row.method.equals(method)).mapToLong(row -> row.calls).sum();
    }

    /** Its share of all time, where this caller called it. */
    double percent(String method, String caller) {
        return rows.stream().filter(row -> row.method.equals(method) && caller.equals(row.caller))
                .mapToDouble(row -> row.percent).sum();
    }
}
