package modes;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Options of one run, and what must come of them. Words are those of the option string; "none" is an option not given. */
final class Modes {
    /** What each block of a text must show of what {@link Small} does. */
    static final Map<String, String> SHOWN = new HashMap<>();

    static {
        SHOWN.put("HEAP DUMP", "class=modes.Small@");
        SHOWN.put("SITES", " byte[]");
        SHOWN.put("MONITOR DUMP", "    THREAD ");
        SHOWN.put("MONITOR TIME", " java.lang.Object (Java)");
        SHOWN.put("CPU SAMPLES", " modes.Small.compute");
        SHOWN.put("CPU TIME", " modes.Small.compute");
        SHOWN.put("old", " modes.Small.compute(I)I modes.Small.main([Ljava/lang/String;)V ");
    }

    private final String heap;
    private final String cpu;
    private final boolean monitor;
    private final String format;
    private final boolean everyAllocation;

    Modes(String heap, String cpu, boolean monitor, String format, boolean everyAllocation) {
        this.heap = heap;
        this.cpu = cpu;
        this.monitor = monitor;
        this.format = format;
        this.everyAllocation = everyAllocation;
    }

    static List<Modes> all() {
        List<Modes> all = new ArrayList<>();
        for (String heap : Arrays.asList("none", "dump", "sites", "all")) {
            for (String cpu : Arrays.asList("none", "samples", "times", "old")) {
                for (boolean monitor : new boolean[] {false, true}) {
                    for (String format : Arrays.asList("none", "a", "b")) {
                        Modes sampled = new Modes(heap, cpu, monitor, format, false);
                        all.add(sampled);
                        if (sampled.hasSites() && sampled.fault() == null) {
                            all.add(new Modes(heap, cpu, monitor, format, true));
                        }
                    }
                }
            }
        }
        return all;
    }

    String options() {
        List<String> options = new ArrayList<>();
        options.add("cutoff=0");
        if (!heap.equals("none")) {
            options.add("heap=" + heap);
        }
        if (!cpu.equals("none")) {
            options.add("cpu=" + cpu);
        }
        if (cpu.startsWith("samples")) {
            options.add("interval=1");
        }
        if (monitor) {
            options.add("monitor=y");
        }
        if (!format.equals("none")) {
            options.add("format=" + format);
        }
        if (everyAllocation) {
            options.add("sampling=0");
        }
        return String.join(",", options);
    }

    /** How the refusal begins; null if these must go together. */
    String fault() {
        // There are no records for times of methods and for monitors.
        if (format.equals("b") && timesMethods()) {
            return "format=b: cpu=times|old is not supported with format=b";
        }
        if (format.equals("b") && monitor) {
            return "format=b: monitor=y is not supported with format=b";
        }
        return null;
    }

    /** All files that there must be. */
    Set<String> files() {
        Set<String> files = new TreeSet<>();
        if (dumpFile() != null) {
            files.add(dumpFile());
        }
        if (reportFile() != null) {
            files.add(reportFile());
        }
        return files;
    }

    /** The file with the heap dump, or null. */
    String dumpFile() {
        return !hasDump() ? null : isText() ? "java.hprof.txt" : "java.hprof";
    }

    /** The file with all else; null if there is nothing else, or if it is in the heap dump. */
    String reportFile() {
        if (hasDump()) {
            return isText() && hasReport() ? "java.hprof.1.txt" : null;
        }
        return isText() ? "java.hprof.txt" : "java.hprof";
    }

    /** What is in the file with the heap dump, on a JVM that samples allocations or does not. */
    Set<String> dumpBlocks(boolean samples) {
        Set<String> blocks = new TreeSet<>(Arrays.asList("HEAP DUMP"));
        if (hasSites() && (samples || everyAllocation)) {
            blocks.add("SITES");
        }
        if (!isText() && cpu.equals("samples")) {
            blocks.add("CPU SAMPLES");
        }
        return blocks;
    }

    /** The same of the other file. */
    Set<String> reportBlocks() {
        Set<String> blocks = new TreeSet<>();
        if (monitor) {
            blocks.addAll(Arrays.asList("MONITOR DUMP", "MONITOR TIME"));
        }
        // Without a heap dump they are counted where they cannot be sampled.
        if (!hasDump() && hasSites()) {
            blocks.add("SITES");
        }
        switch (cpu) {
            case "samples": blocks.add("CPU SAMPLES"); break;
            case "times": blocks.add("CPU TIME"); break;
            case "samples,cpu=times": blocks.addAll(Arrays.asList("CPU SAMPLES", "CPU TIME")); break;
            case "old": blocks.add("old"); break;
            default: break;
        }
        return blocks;
    }

    private boolean isNothing() {
        return heap.equals("none") && !hasReport();
    }

    private boolean hasDump() {
        return heap.equals("dump") || heap.equals("all") || isNothing();
    }

    private boolean hasSites() {
        return heap.equals("sites") || heap.equals("all") || isNothing();
    }

    private boolean hasReport() {
        return !cpu.equals("none") || monitor;
    }

    private boolean timesMethods() {
        return cpu.endsWith("times") || cpu.equals("old");
    }

    private boolean isText() {
        return format.equals("a") || !format.equals("b") && (!hasDump() || monitor || timesMethods());
    }
}
