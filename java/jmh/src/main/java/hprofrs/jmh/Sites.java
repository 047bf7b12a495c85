package hprofrs.jmh;

import java.io.IOException;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;

/** What each site has allocated. */
final class Sites implements Serializable {
    private static final long serialVersionUID = 1;
    /** In the names of the classes with which JMH calls a benchmark. */
    private static final String CALLER = ".jmh_generated.";

    /** Bytes by site: the class, and below it its stack, line by line. */
    private final HashMap<String, Long> bytes = new HashMap<>();

    /** Those of a report in the classic layout, which lists the stacks first. */
    static Sites read(Path report) throws IOException {
        Sites sites = new Sites();
        Map<String, StringBuilder> stacks = new HashMap<>();
        StringBuilder stack = null;
        boolean isRow = false;
        for (String line : new String(Files.readAllBytes(report), StandardCharsets.UTF_8).split("\n")) {
            if (line.startsWith("TRACE ")) {
                stack = new StringBuilder();
                stacks.put(line.substring("TRACE ".length()).split("[:\\s]", 2)[0], stack);
            } else if (stack != null && line.startsWith("\t")) {
                // Below the benchmark is JMH, by more ways than one.
                stack = line.contains(CALLER) ? null : stack.append('\n').append(line.trim());
            } else if (line.startsWith("SITES END")) {
                isRow = false;
            } else if (isRow) {
                // rank, self, accum, live bytes and objects, allocated bytes and objects, trace, class
                String[] words = line.trim().split("\\s+", 9);
                sites.add(words[8] + stacks.getOrDefault(words[7], new StringBuilder()), Long.parseLong(words[5]));
            } else if (line.startsWith(" rank ")) {
                isRow = true;
            }
        }
        return sites;
    }

    private void add(String site, long more) {
        bytes.merge(site, more, Long::sum);
    }

    /** What has been allocated since those were read. */
    Sites since(Sites earlier) {
        Sites difference = new Sites();
        bytes.forEach((site, now) -> {
            long more = now - earlier.bytes.getOrDefault(site, 0L);
            if (more > 0) {
                difference.add(site, more);
            }
        });
        return difference;
    }

    /** Those of both. */
    Sites and(Sites others) {
        Sites sum = new Sites();
        bytes.forEach(sum::add);
        others.bytes.forEach(sum::add);
        return sum;
    }

    long bytes() {
        return bytes.values().stream().mapToLong(Long::longValue).sum();
    }

    /** The largest first. */
    List<Entry<String, Long>> ranked() {
        List<Entry<String, Long>> all = new ArrayList<>(bytes.entrySet());
        all.sort(Collections.reverseOrder(Entry.comparingByValue()));
        return all;
    }
}
