package hprofrs;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The objects of the classes of one name. */
public final class ClassCount {
    /** A row of the agent's sample. A name is in quotes; a quote, a backslash or a line's end in it has a backslash. */
    private static final Pattern ROW =
            Pattern.compile("\\{\"class\":\"([^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+)\",\"instances\":(\\d+),\"bytes\":(\\d+)\\}");

    private final String className;
    private final long instances;
    private final long bytes;

    private ClassCount(String className, long instances, long bytes) {
        this.className = className;
        this.instances = instances;
        this.bytes = bytes;
    }

    /** The rows of a sample, in their order. */
    static List<ClassCount> all(String sample) {
        List<ClassCount> rows = new ArrayList<>();
        for (Matcher row = ROW.matcher(sample); row.find(); ) {
            rows.add(new ClassCount(unquoted(row.group(1)), Long.parseLong(row.group(2)), Long.parseLong(row.group(3))));
        }
        return rows;
    }

    private static String unquoted(String quoted) {
        StringBuilder name = new StringBuilder();
        for (int i = 0; i < quoted.length(); i++) {
            char letter = quoted.charAt(i);
            if (letter == '\\') {
                i++;
                letter = quoted.charAt(i) == 'n' ? '\n' : quoted.charAt(i);
            }
            name.append(letter);
        }
        return name.toString();
    }

    /** The name as in Java source, such as {@code java.lang.String} or {@code int[]}. */
    public String getClassName() {
        return className;
    }

    /** How many objects there are. */
    public long getInstances() {
        return instances;
    }

    /** What they take in the heap, in bytes, by the JVM's own sizes. */
    public long getBytes() {
        return bytes;
    }

    @Override
    public String toString() {
        return className + ": " + instances + " instances, " + bytes + " bytes";
    }
}
