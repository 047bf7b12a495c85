package harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The monitors in a text report. Threads go by their names; one that the report does not name is "?". */
public final class MonitorReport {
    private static final Pattern START = Pattern.compile("THREAD START \\(obj=0, id = (\\d+), name=\"(.*)\", group=.*");
    private static final Pattern STATE = Pattern.compile("    THREAD (\\d+), trace (\\d+), status: (.*)");
    private static final Pattern NUMBER = Pattern.compile("<unknown thread>|thread (\\d+)");

    /** A row of MONITOR TIME. */
    public static final class Row {
        public final long count;
        public final List<String> frames;
        public final String className;
        private final double share;

        Row(String[] words, List<String> frames) {
            share = Double.parseDouble(words[1].replace("%", "")) / 100;
            count = Long.parseLong(words[3]);
            className = words[5];
            this.frames = frames;
        }

        @Override
        public String toString() {
            return count + " times " + className + " at " + frames;
        }
    }

    /** A monitor of MONITOR DUMP. */
    public static final class Monitor {
        public final String signature;
        /** Empty if nobody owns it. */
        public String owner = "";
        public int entries;
        public Set<String> entering = Set.of();
        public Set<String> waiting = Set.of();

        Monitor(String signature) {
            this.signature = signature;
        }

        @Override
        public String toString() {
            return signature + " of '" + owner + "' entered " + entries + " times, entering " + entering + ", waiting " + waiting;
        }
    }

    /** A thread of MONITOR DUMP. */
    public static final class State {
        public final String name;
        public final String status;
        public final List<String> frames;

        State(String name, String status, List<String> frames) {
            this.name = name;
            this.status = status;
            this.frames = frames;
        }
    }

    public final List<Row> rows = new ArrayList<>();
    public final List<Monitor> monitors = new ArrayList<>();
    public final List<State> states = new ArrayList<>();
    /** The lines WAIT and WAITED, with the name of the thread at the end instead of its number. */
    public final List<String> waits = new ArrayList<>();
    public long totalMillis = -1;
    private final Map<String, String> names = new HashMap<>();
    private final Map<String, List<String>> traces = new HashMap<>();

    public MonitorReport(Path file) {
        boolean told = false;
        String block = "";
        List<String> trace = List.of();
        for (String line : lines(file)) {
            told |= line.equals("--------");
            if (!told) {
                continue;
            }
            if (line.startsWith("TRACE ")) {
                trace = new ArrayList<>();
                traces.put(line.substring(6).split(":")[0], trace);
            } else if (line.contains(" BEGIN")) {
                block = line.substring(0, line.indexOf(" BEGIN"));
                begin(line);
            } else if (line.contains(" END")) {
                block = "";
            } else if (block.startsWith("MONITOR")) {
                inside(block, line);
            } else if (line.startsWith("\t")) {
                trace.add(line.trim());
            } else {
                outside(line);
            }
        }
    }

    private static List<String> lines(Path file) {
        try {
            return List.of(new String(Files.readAllBytes(file), StandardCharsets.UTF_8).split("\n"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void begin(String line) {
        if (line.startsWith("MONITOR TIME")) {
            totalMillis = Long.parseLong(line.replaceAll(".*total = (\\d+) ms.*", "$1"));
        }
    }

    private void outside(String line) {
        Matcher start = START.matcher(line);
        if (start.matches()) {
            names.put(start.group(1), start.group(2));
        } else if (line.startsWith("WAIT")) {
            int last = line.lastIndexOf(", ");
            waits.add(line.substring(0, last + 2) + threads(line.substring(last)).iterator().next());
        }
    }

    private void inside(String block, String line) {
        Matcher state = STATE.matcher(line);
        if (block.equals("MONITOR TIME") && !line.startsWith("rank")) {
            String[] words = line.trim().split(" +");
            rows.add(new Row(words, traces.get(words[4])));
        } else if (state.matches()) {
            states.add(new State(name(state.group(1)), state.group(3), traces.get(state.group(2))));
        } else if (line.startsWith("    MONITOR ")) {
            monitors.add(new Monitor(line.trim().split(" ")[1]));
        } else if (line.startsWith("\t")) {
            detail(monitors.get(monitors.size() - 1), line.trim());
        }
    }

    private void detail(Monitor monitor, String line) {
        if (line.startsWith("owner: ")) {
            monitor.owner = threads(line).iterator().next();
            monitor.entries = Integer.parseInt(line.substring(line.lastIndexOf(' ') + 1));
        } else if (line.startsWith("waiting to enter:")) {
            monitor.entering = threads(line);
        } else if (line.startsWith("waiting to be notified:")) {
            monitor.waiting = threads(line);
        }
    }

    private Set<String> threads(String line) {
        Set<String> threads = new HashSet<>();
        for (Matcher thread = NUMBER.matcher(line); thread.find(); ) {
            threads.add(name(thread.group(1)));
        }
        return threads;
    }

    private String name(String number) {
        return names.getOrDefault(number, "?");
    }

    /** The one row of MONITOR TIME for monitors of this class. */
    public Row row(String className) {
        List<Row> found = rows.stream().filter(row -> row.className.equals(className)).collect(Collectors.toList());
        if (found.size() != 1) {
            throw new AssertionError("not one row for " + className + ": " + rows);
        }
        return found.get(0);
    }

    public double millis(Row row) {
        return row.share * totalMillis;
    }

    /** The one monitor of MONITOR DUMP of this class. */
    public Monitor monitor(String signature) {
        List<Monitor> found = monitors.stream().filter(it -> it.signature.equals(signature)).collect(Collectors.toList());
        if (found.size() != 1) {
            throw new AssertionError("not one monitor " + signature + ": " + monitors);
        }
        return found.get(0);
    }

    /** The threads of MONITOR DUMP with this name. */
    public List<State> states(String name) {
        return states.stream().filter(state -> state.name.equals(name)).collect(Collectors.toList());
    }
}
