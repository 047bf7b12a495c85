package harness;

import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** How many instances each class has. */
public final class Histogram {
    private final TreeMap<String, Long> counts = new TreeMap<>();

    public void add(String className, long count) {
        if (count != 0) {
            counts.merge(Names.source(className), count, Long::sum);
        }
    }

    /** The name of a class as rows have it. */
    public static String named(String className) {
        return Names.source(className);
    }

    public long of(String className) {
        return counts.getOrDefault(className, 0L);
    }

    /** The instances of all classes whose name matches the pattern. */
    public long matching(String pattern) {
        return counts.entrySet().stream().filter(row -> row.getKey().matches(pattern)).mapToLong(Map.Entry::getValue).sum();
    }

    /** This without one class. */
    public Histogram without(String className) {
        Histogram rest = new Histogram();
        counts.forEach((name, count) -> {
            if (!name.equals(className)) {
                rest.add(name, count);
            }
        });
        return rest;
    }

    /** What the other has more (or, negative, less) of than this. */
    public Map<String, Long> to(Histogram other) {
        TreeSet<String> names = new TreeSet<>(counts.keySet());
        names.addAll(other.counts.keySet());
        Map<String, Long> difference = new TreeMap<>();
        for (String name : names) {
            if (of(name) != other.of(name)) {
                difference.put(name, other.of(name) - of(name));
            }
        }
        return difference;
    }

    @Override
    public String toString() {
        return counts.toString();
    }
}
