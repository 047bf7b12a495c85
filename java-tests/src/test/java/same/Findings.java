package same;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** What a comparison found: differences by kind, and what the rules let pass. */
final class Findings {
    private static final int SHOWN = 20;

    /** The differences of one kind: all are counted, the first are listed. */
    private static final class Group {
        long count;
        final List<String> first = new ArrayList<>();
    }

    private final Map<String, Group> differences = new LinkedHashMap<>();
    private final Map<Rule, TreeMap<String, Long>> allowed = new EnumMap<>(Rule.class);
    private final List<String> notes = new ArrayList<>();

    /** Something that is not as it must be. */
    void differ(String kind, String text) {
        Group group = differences.computeIfAbsent(kind, key -> new Group());
        if (group.count++ < SHOWN) {
            group.first.add(text);
        }
    }

    /** Something a rule lets pass; it is counted by what it is. */
    void allow(Rule rule, String what) {
        allow(rule, what, 1);
    }

    void allow(Rule rule, String what, long count) {
        allowed.computeIfAbsent(rule, key -> new TreeMap<>()).merge(what, count, Long::sum);
    }

    /** Something to know that is neither. */
    void note(String text) {
        notes.add(text);
    }

    long differences() {
        return differences.values().stream().mapToLong(group -> group.count).sum();
    }

    /** The kinds of the differences, in alphabetical order. */
    Set<String> kinds() {
        return new TreeSet<>(differences.keySet());
    }

    /** One of the first differences of this kind has these words. */
    boolean tells(String kind, String words) {
        Group group = differences.get(kind);
        return group != null && group.first.stream().anyMatch(text -> text.contains(words));
    }

    long allowed(Rule rule) {
        return allowed.getOrDefault(rule, new TreeMap<>()).values().stream().mapToLong(Long::longValue).sum();
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(differences() + " differences\n");
        differences.forEach((kind, group) -> {
            text.append("  ").append(kind).append(": ").append(group.count).append('\n');
            group.first.forEach(line -> text.append("    ").append(line).append('\n'));
            if (group.count > SHOWN) {
                text.append("    and ").append(group.count - SHOWN).append(" more\n");
            }
        });
        allowed.forEach((rule, whats) -> text.append("  ").append(rule).append(", ").append(rule.meaning).append(": ")
                .append(allowed(rule)).append(": ").append(mostFrequent(whats)).append('\n'));
        notes.forEach(note -> text.append("  ").append(note).append('\n'));
        return text.toString();
    }

    private static String mostFrequent(Map<String, Long> whats) {
        String first = whats.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())).limit(SHOWN)
                .map(row -> row.getValue() + " " + row.getKey()).collect(Collectors.joining(", "));
        return whats.size() > SHOWN ? first + ", ..." : first;
    }
}
