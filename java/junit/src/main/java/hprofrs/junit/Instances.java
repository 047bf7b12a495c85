package hprofrs.junit;

import hprofrs.AnalysisCommand;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The retained instances of a class, and how a root reaches the one that retains most. */
final class Instances {
    private final String type;
    private long count;
    /** The path, line by line. */
    private final List<String> path = new ArrayList<>();

    private Instances(String type) {
        this.type = type;
    }

    /** Asks the command about a dump. */
    static Instances in(Path dump, String type) throws IOException {
        Instances instances = new Instances(type);
        for (String row : ask("histo", "--retained", "--references", "strong", "--top", "0", dump.toString())) {
            instances.add(row.trim().split("\\s+", 4));
        }
        if (instances.count > 0) {
            List<String> object = ask("show", "--references", "strong", dump.toString(), type);
            boolean isPath = false;
            for (String line : object) {
                isPath |= line.startsWith("  path from ");
                if (isPath) {
                    instances.path.add(line);
                }
            }
        }
        return instances;
    }

    private static List<String> ask(String... words) throws IOException {
        AnalysisCommand.Answer answer = AnalysisCommand.run(words);
        if (answer.code != 0) {
            throw new IOException("hprof " + words[0] + ": " + answer.errors);
        }
        return answer.lines;
    }

    /** Adds a row: retained and shallow bytes, objects, and the class, with its loader if several have that name. */
    private void add(String[] row) {
        if (row.length == 4 && isType(row[3].split(" \\(")[0])) {
            count += Long.parseLong(row[2].replace(",", ""));
        }
    }

    /** The JVM and dumps write different signs before the number of a hidden class. */
    private boolean isType(String name) {
        return name.replaceAll("[/+]", ".").equals(type.replaceAll("[/+]", "."));
    }

    long count() {
        return count;
    }

    /** What was found, for a message. */
    String described(String expectation) {
        StringBuilder text = new StringBuilder(type + ": " + expectation + ", but the heap retains " + count);
        path.forEach(line -> text.append('\n').append(line));
        return text.toString();
    }
}
