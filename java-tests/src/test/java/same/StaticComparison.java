package same;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/** Compares the static fields of a class, declared ones and those that are in angle brackets. */
final class StaticComparison {
    /** A static reference of a class that is not linked: its name is unknown. */
    private static final String NAMELESS = "<static>";

    private final HprofFile ours;
    private final HprofFile theirs;
    private final Values values;
    private final Findings findings;

    StaticComparison(HprofFile ours, HprofFile theirs, Values values, Findings findings) {
        this.ours = ours;
        this.theirs = theirs;
        this.values = values;
        this.findings = findings;
    }

    void compare(HprofClass our, HprofClass their) {
        compare(our, byName(our, field -> true), byName(their, field -> true));
    }

    /** A class that is not linked: ours has no names of its declared fields, but all that they refer to. */
    void compareUnlinked(HprofClass our, HprofClass their) {
        compare(our, byName(our, field -> !field.name.equals(NAMELESS)), byName(their, field -> !field.isDeclared()));
        List<Long> ourIds = references(our, field -> field.name.equals(NAMELESS));
        List<Long> theirIds = references(their, HprofField::isDeclared);
        List<Long> both = new ArrayList<>(theirIds);
        both.retainAll(ourIds);
        for (long id : both) {
            ourIds.remove(id);
            theirIds.remove(id);
        }
        // The rest of ours must be what HotSpot wrote null for.
        ourIds.removeIf(id -> values.agree(HprofType.OBJECT, id, 0));
        if (!ourIds.isEmpty() || !theirIds.isEmpty()) {
            findings.differ("static references of a class that is not linked",
                    ours.text(our.id) + ": only ours " + texts(ours, ourIds) + ", only HotSpot's " + texts(theirs, theirIds));
        }
    }

    private static List<Long> references(HprofClass type, Predicate<HprofField> wanted) {
        List<Long> references = new ArrayList<>();
        type.statics.stream().filter(wanted).filter(field -> field.type == HprofType.OBJECT && field.bits != 0)
                .forEach(field -> references.add(field.bits));
        return references;
    }

    private static List<String> texts(HprofFile file, List<Long> ids) {
        List<String> texts = new ArrayList<>();
        ids.forEach(id -> texts.add(file.text(id)));
        return texts;
    }

    private void compare(
            HprofClass our, TreeMap<String, List<HprofField>> ourStatics, TreeMap<String, List<HprofField>> theirStatics) {
        TreeSet<String> names = new TreeSet<>(ourStatics.keySet());
        names.addAll(theirStatics.keySet());
        for (String name : names) {
            List<HprofField> ourValues = ourStatics.getOrDefault(name, Collections.emptyList());
            List<HprofField> theirValues = theirStatics.getOrDefault(name, Collections.emptyList());
            if (theirValues.isEmpty() && name.startsWith("<")) {
                ourValues.forEach(field -> pseudo(our, field));
            } else if (ourValues.size() != theirValues.size()) {
                findings.differ("static fields of a name",
                        ours.text(our.id) + ", " + name + ": ours " + ourValues.size() + ", HotSpot's " + theirValues.size());
            } else {
                equal(our, ourValues, theirValues);
            }
        }
    }

    /** Each of our values with HotSpot's of the same rank: several of one name have no order of their own. */
    private void equal(HprofClass our, List<HprofField> ourValues, List<HprofField> theirValues) {
        for (int i = 0; i < ourValues.size(); i++) {
            HprofField one = ourValues.get(i);
            HprofField other = theirValues.get(i);
            if (one.type != other.type) {
                findings.differ("type of a static field", ours.text(our.id) + ": ours " + one + ", HotSpot's " + other);
            } else if (!values.agree(one.type, one.bits, other.bits)) {
                findings.differ("static field",
                        ours.text(our.id) + ", " + one + ": " + values.text(one.type, one.bits, other.bits));
            }
        }
    }

    private void pseudo(HprofClass our, HprofField field) {
        if (field.name.equals(NAMELESS)) {
            findings.differ("static field without a name", ours.text(our.id) + ": " + ours.text(field.bits));
        } else if (field.type == HprofType.OBJECT && ours.has(field.bits)) {
            findings.allow(Rule.PSEUDO_STATIC, field.name.replaceAll("\\d+", "N"));
        } else {
            findings.differ("pseudo static field that holds no object",
                    ours.text(our.id) + ", " + field + ": " + field.type.text(field.bits));
        }
    }

    private static TreeMap<String, List<HprofField>> byName(HprofClass type, Predicate<HprofField> wanted) {
        TreeMap<String, List<HprofField>> byName = new TreeMap<>();
        type.statics.stream().filter(wanted).forEach(field ->
                byName.computeIfAbsent(field.isInitLock() ? "<init_lock>" : field.name, key -> new ArrayList<>()).add(field));
        byName.values().forEach(fields -> fields.sort((one, other) -> Long.compareUnsigned(one.bits, other.bits)));
        return byName;
    }
}
