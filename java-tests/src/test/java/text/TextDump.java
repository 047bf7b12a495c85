package text;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;

/** A heap dump as text, taken apart into its entries: a line of its own and the lines below it that begin with a tab. */
final class TextDump {
    private static final Pattern BEGIN = Pattern.compile("HEAP DUMP BEGIN \\((\\d+) objects, (\\d+) bytes\\) .+");
    private static final Pattern THREAD = Pattern.compile("THREAD START \\(obj=([0-9a-f]+), id = (\\d+), name=\".*\", group=\".*\"\\)");
    private static final Pattern SIZE = Pattern.compile("\\(sz=(\\d+), ");
    private static final Pattern ROOT = Pattern.compile("(ROOT .*>.*, (?:thread|id)=)(\\d+)(.*)");
    private static final String NUMBERED_ROOT = "(kind=<JNI global ref>, ";

    /** The numbers in the first line of the dump. */
    long objects;
    long bytes;
    /** Roots, with the thread's object for its number and no number of a global reference. */
    final List<String> roots = new ArrayList<>();
    /** Instances and arrays, as they are. */
    final List<String> entries = new ArrayList<>();
    final List<String> classes = new ArrayList<>();
    /** The text before the dump and after it. */
    final List<String> before = new ArrayList<>();
    final List<String> behind = new ArrayList<>();

    TextDump(Path file) throws IOException {
        Map<String, String> threads = new HashMap<>();
        List<String> open = null;
        for (String line : lines(file)) {
            Matcher begin = BEGIN.matcher(line);
            Matcher thread = THREAD.matcher(line);
            if (begin.matches()) {
                objects = Long.parseLong(begin.group(1));
                bytes = Long.parseLong(begin.group(2));
                open = roots;
            } else if (line.equals("HEAP DUMP END")) {
                open = behind;
            } else if (open == null) {
                before.add(line);
                if (thread.matches()) {
                    threads.put(thread.group(2), thread.group(1));
                }
            } else if (open == behind) {
                behind.add(line);
            } else {
                open = inDump(line, open, threads);
            }
        }
        if (open != behind) {
            throw new IllegalStateException(file + " has no heap dump that ends");
        }
    }

    /** Takes a line between the first and the last, and returns what the lines with tabs below it belong to. */
    private List<String> inDump(String line, List<String> open, Map<String, String> threads) {
        List<String> part = line.startsWith("CLS ") ? classes : line.startsWith("\t") ? open
                : line.startsWith("OBJ ") || line.startsWith("ARR ") ? entries : roots;
        if (line.startsWith("\t")) {
            part.set(part.size() - 1, part.get(part.size() - 1) + "\n" + line);
        } else if (part == roots) {
            part.add(root(line, threads));
        } else {
            part.add(line);
        }
        boolean isInOrder = part == open || part == entries && open == roots || part == classes && open == entries;
        if (!isInOrder || part == roots && !line.startsWith("ROOT ")) {
            throw new IllegalStateException("out of order: " + line);
        }
        return part;
    }

    private static String root(String line, Map<String, String> threads) {
        if (line.contains(NUMBERED_ROOT)) {
            return line.replaceAll("id=[0-9a-f]+, ", "");
        }
        Matcher root = ROOT.matcher(line);
        return root.matches() ? root.group(1) + "@" + threads.get(root.group(2)) + root.group(3).replaceAll(", trace=\\d+", "")
                : line;
    }

    private static List<String> lines(Path file) throws IOException {
        InputStream raw = Files.newInputStream(file);
        InputStream in = file.toString().endsWith(".gz") ? new GZIPInputStream(raw) : raw;
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            return reader.lines().collect(Collectors.toList());
        }
    }

    /** The size of an instance or array in the text. */
    static long size(String entry) {
        Matcher size = SIZE.matcher(entry);
        if (!size.find()) {
            throw new IllegalStateException("no size: " + entry);
        }
        return Long.parseLong(size.group(1));
    }

    /** The entry without a size, which HotSpot's own binary dump does not tell. */
    static String withoutSize(String entry) {
        return SIZE.matcher(entry).replaceFirst("(");
    }

    /** The instances and arrays of a class of this name. */
    List<String> of(String className) {
        return entries.stream().filter(entry -> className.equals(className(entry))).collect(Collectors.toList());
    }

    /** The name of an instance's class. */
    static String className(String entry) {
        String line = entry.split("\n", 2)[0];
        return line.replaceFirst(".*(?:class|elem type)=", "").replaceFirst("(@[0-9a-f]+)?\\)$", "");
    }
}
