package harness;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** How large a part of a whole each of many has: of all samples, those of each method. */
public final class Shares {
    private final Map<String, Long> counts;
    public final long total;

    public Shares(Map<String, Long> counts, long total) {
        this.counts = counts;
        this.total = total;
    }

    /** Those whose name is not like this; the total stays. */
    public Shares without(Predicate<String> kind) {
        Map<String, Long> rest = new HashMap<>(counts);
        rest.keySet().removeIf(kind);
        return new Shares(rest, total);
    }

    /** From 0 to 1. */
    public double of(String name) {
        return counts.getOrDefault(name, 0L) / (double) total;
    }

    /** So many, the largest first. */
    public List<String> first(int most) {
        return counts.entrySet().stream().sorted(Map.Entry.<String, Long>comparingByValue().reversed()).limit(most)
                .map(Map.Entry::getKey).collect(Collectors.toList());
    }

    /** Those that have at least this share. */
    public List<String> above(double share) {
        return counts.keySet().stream().filter(name -> of(name) >= share).collect(Collectors.toList());
    }

    /**
     * How much of what these have here they have there, too: 1 if none has less there than chance explains. What is missing
     * counts only beyond this many standard errors of a share, of which the smaller total allows larger ones.
     */
    public double overlap(List<String> names, Shares others, double standardErrors) {
        double here = 0;
        double both = 0;
        for (String name : names) {
            double share = of(name);
            double error = Math.sqrt(share * (1 - share) / Math.min(total, others.total));
            here += share;
            both += Math.min(share, others.of(name) + standardErrors * error);
        }
        return both / here;
    }

    @Override
    public String toString() {
        return total + ", of which " + first(15).stream().map(name -> String.format(Locale.ROOT, "%s %.1f%%", name, 100 * of(name)))
                .collect(Collectors.joining(", "));
    }
}
