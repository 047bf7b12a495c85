package text;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which object of one dump is which of another that has other ids for them. From classes of one name, and roots that have no
 * like, along references of one name to objects that must be alike: the same line but for ids, and below it the same names.
 */
final class Correspondence {
    private static final Pattern ID = Pattern.compile("(?<=^(?:OBJ|ARR|CLS) )[0-9a-f]+|@[0-9a-f]+(?=\\)$)");

    /** An entry without its ids, and where it leads. */
    private static final class Entry {
        final String like;
        final String[] targets;

        Entry(String entry) {
            String[] lines = entry.split("\n");
            StringBuilder names = new StringBuilder(ID.matcher(lines[0]).replaceAll(""));
            targets = new String[lines.length - 1];
            for (int i = 1; i < lines.length; i++) {
                int tab = lines[i].lastIndexOf('\t');
                names.append('\n').append(lines[i], 0, tab);
                targets[i - 1] = lines[i].substring(tab + 1);
            }
            like = names.toString();
        }
    }

    /** A dump: its entries by their ids, and the ids of what is known by itself. */
    static final class Dump {
        private final Map<String, Entry> entries = new HashMap<>();
        /** Classes by their names, and roots by their kinds and what they lead to; empty if there are several. */
        private final Map<String, String> known = new HashMap<>();

        Dump(List<String> roots, List<String> objects, List<String> classes) {
            objects.forEach(entry -> entries.put(id(entry), new Entry(entry)));
            for (String type : classes) {
                entries.put(id(type), new Entry(type));
                know(name(type), id(type));
            }
            for (String root : new LinkedHashSet<>(roots)) {
                Entry held = entries.get(id(root));
                String kind = root.replaceAll("(?<=^ROOT |@)[0-9a-f]+", "");
                know(kind + " " + (held == null ? "" : held.like), id(root));
            }
        }

        private void know(String what, String id) {
            known.merge(what, id, (one, other) -> "");
        }
    }

    private final Dump ours;
    private final Dump theirs;
    private final Map<String, String> pairs = new HashMap<>();
    private final Deque<String> open = new ArrayDeque<>();
    /** What is not alike. */
    final List<String> differences = new ArrayList<>();

    Correspondence(Dump ours, Dump theirs) {
        this.ours = ours;
        this.theirs = theirs;
        ours.known.forEach((what, id) -> {
            String other = theirs.known.getOrDefault(what, "");
            if (!id.isEmpty() && !other.isEmpty()) {
                pair(id, other, what);
            }
        });
        while (!open.isEmpty()) {
            follow(open.remove());
        }
    }

    private static String id(String entry) {
        return entry.split(" ", 3)[1];
    }

    private static String name(String type) {
        Matcher name = Pattern.compile("\\(name=(.*), trace=").matcher(type);
        return name.find() ? name.group(1) : type;
    }

    private void pair(String our, String their, String why) {
        String known = pairs.putIfAbsent(our, their);
        if (known == null) {
            open.add(our);
        } else if (!known.equals(their)) {
            differences.add(why + ": " + our + " is " + known + ", not " + their);
        }
    }

    private void follow(String our) {
        Entry one = ours.entries.get(our);
        Entry other = theirs.entries.get(pairs.get(our));
        if (one == null || other == null || !one.like.equals(other.like)) {
            differences.add((one == null ? "nothing" : one.like) + " is " + (other == null ? "nothing" : other.like));
            return;
        }
        for (int i = 0; i < one.targets.length; i++) {
            pair(one.targets[i], other.targets[i], one.like);
        }
    }

    /** How many objects and classes have another. */
    int pairs() {
        return pairs.size();
    }
}
