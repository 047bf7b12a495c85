package hprofrs.junit;

import hprofrs.AnalysisCommand;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The retained instances of a class, and how roots reach the largest of them. */
final class Instances {
    private static final int PATHS = 3;
    private static final int NO_ANSWER = 2;

    private final String type;
    private long count;
    /** The first paths, line by line. */
    private final List<String> paths = new ArrayList<>();

    private Instances(String type) {
        this.type = type;
    }

    /** Asks the command about a dump. */
    static Instances in(Path dump, String type) throws IOException {
        AnalysisCommand.Answer answer =
                AnalysisCommand.run("path", "--references", "strong", "--top", "0", dump.toString(), type);
        Instances instances = new Instances(type);
        if (answer.code == NO_ANSWER && isAbsent(answer.errors)) {
            return instances;
        }
        if (answer.code != 0) {
            throw new IOException("hprof path: " + answer.errors);
        }
        instances.read(answer.lines);
        return instances;
    }

    /** Whether the command found no such class, or no object of it. */
    private static boolean isAbsent(String errors) {
        return errors.contains("no class is called ") || errors.contains("the dump has no object of ");
    }

    /** Each object is a line, and below it, indented, is its path. */
    private void read(List<String> lines) {
        boolean isRetained = false;
        for (String line : lines) {
            if (!line.startsWith(" ")) {
                isRetained = !line.endsWith(", by a weak reference)") && !line.endsWith(": no root leads to it");
                count += isRetained ? 1 : 0;
            }
            if (isRetained && count <= PATHS) {
                paths.add(line);
            }
        }
    }

    long count() {
        return count;
    }

    /** What was found, for a message. */
    String described(String expectation) {
        StringBuilder text = new StringBuilder(type + ": " + expectation + ", but the heap retains " + count);
        paths.forEach(line -> text.append("\n  ").append(line));
        if (count > PATHS) {
            text.append("\n  ... and ").append(count - PATHS).append(" more");
        }
        return text.toString();
    }
}
