package same;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongPredicate;

/** Counts by class what survives a collection and is not in our dump. */
final class Survivors {
    /** A thread that both hide, and what it holds. */
    private static final String THREAD = "java.lang.Thread";
    private static final Set<String> OF_THREAD = new HashSet<>(Arrays.asList(
            THREAD, "java.lang.Thread$FieldHolder", "java.security.AccessControlContext", "java.lang.String", "byte[]"));
    private static final int MOST_THREADS = 3;
    private static final String STRING = "java.lang.String";

    /** The main class's name, and the words that the subject has read since and not forgotten: the line, and a part of it. */
    private static final int TEXTS = 3;
    /** Constants of java.util.Objects. The JVM may resolve them meanwhile, and no dump has the table that leads to them. */
    private static final Set<String> CONSTANTS = new HashSet<>(Arrays.asList(
            "No java.util.Objects instances for you!", "defaultObj", "supplier", "supplier.get()"));

    private Survivors() {}

    /** The survivors have other addresses, so only their numbers can be compared. */
    static void compare(HprofFile ours, HprofFile survivors, Findings findings) {
        Reachability reachability = new Reachability(survivors);
        Map<String, Long> our = counts(ours, id -> true);
        Map<String, Long> all = counts(survivors, id -> true);
        Map<String, Long> reached = counts(survivors, reachability::reaches);
        long threads = all.get(THREAD) - our.get(THREAD);
        Map<String, Long> more = more(ours, survivors);
        long texts = TEXTS + more.keySet().stream().filter(CONSTANTS::contains).count();
        all.forEach((type, count) -> {
            long missing = count - our.getOrDefault(type, 0L);
            long seen = reached.getOrDefault(type, 0L) - our.getOrDefault(type, 0L);
            boolean isText = type.equals(STRING) || type.equals("byte[]");
            long most = OF_THREAD.contains(type) ? Math.min(threads, MOST_THREADS) + (isText ? texts : 0) : 0;
            if (seen > 0) {
                findings.differ("survivors that HotSpot's roots lead to and ours has not", seen + " " + type);
            } else if (missing > 0 && missing <= most) {
                findings.allow(Rule.UNSEEN_LIFE, type, missing);
            } else if (missing > 0 && !Fillers.TYPES.contains(type)) {
                findings.differ("survivors that ours has not", missing + " " + type + (type.equals(STRING) ? ": " + more : ""));
            }
        });
    }

    /** The texts of which the survivors have more strings. */
    private static Map<String, Long> more(HprofFile ours, HprofFile survivors) {
        Map<String, Long> texts = texts(survivors);
        texts(ours).forEach((text, count) -> texts.merge(text, -count, Long::sum));
        texts.values().removeIf(count -> count <= 0);
        return texts;
    }

    private static Map<String, Long> texts(HprofFile file) {
        Map<String, Long> texts = new TreeMap<>();
        file.objects.keySet().stream().filter(id -> file.typeOf(id).equals(STRING))
                .forEach(id -> texts.merge(file.latin(id), 1L, Long::sum));
        return texts;
    }

    private static Map<String, Long> counts(HprofFile file, LongPredicate wanted) {
        Map<String, Long> counts = new TreeMap<>();
        file.objects.keySet().stream().filter(wanted::test)
                .forEach(id -> counts.merge(file.typeOf(id), 1L, Long::sum));
        return counts;
    }
}
