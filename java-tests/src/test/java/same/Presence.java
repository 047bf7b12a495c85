package same;

import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;

/** Compares which objects and classes there are, and whether what ours refers to is there. */
final class Presence {
    /** More objects than the requests for two dumps need would be a sign that the JVM was not quiet. */
    private static final int MOST_CREATED = 10;

    private final HprofFile ours;
    private final HprofFile theirs;
    private final Comparison.Order order;
    private final Findings findings;
    /** What arrays of HotSpot's dump refer to though it has no record of it. */
    private final Set<Long> recordless = new HashSet<>();

    Presence(HprofFile ours, HprofFile theirs, Comparison.Order order, Findings findings) {
        this.ours = ours;
        this.theirs = theirs;
        this.order = order;
        this.findings = findings;
        theirs.objects.values().stream().filter(object -> object.kind == HprofObject.Kind.OBJECT_ARRAY)
                .forEach(array -> theirs.eachReference(array.id, id -> {
                    if (id != 0 && !theirs.has(id)) {
                        recordless.add(id);
                    }
                }));
    }

    void compare() {
        ours.repeated.forEach(id -> findings.differ("record of an id that ours had before", ours.text(id)));
        onlyTheirs();
        onlyOurs();
        if (findings.allowed(Rule.CREATED_BETWEEN) > MOST_CREATED) {
            findings.differ("objects created between the dumps",
                    findings.allowed(Rule.CREATED_BETWEEN) + ", more than " + MOST_CREATED);
        }
        ours.objects.keySet().forEach(this::references);
        ours.classes.keySet().forEach(this::references);
    }

    private void onlyTheirs() {
        TreeSet<Long> missing = missing(theirs, ours);
        if (missing.isEmpty()) {
            return;
        }
        Reachability reachability = new Reachability(theirs);
        for (long id : missing) {
            if (!reachability.reaches(id)) {
                findings.allow(Rule.UNREACHABLE, theirs.typeOf(id));
            } else if (order == Comparison.Order.OURS_FIRST) {
                findings.allow(Rule.CREATED_BETWEEN, theirs.typeOf(id));
            } else {
                findings.differ("reachable object that only HotSpot's has", theirs.text(id));
            }
        }
    }

    private void onlyOurs() {
        for (long id : missing(ours, theirs)) {
            if (isNeverLoaded(id)) {
                findings.allow(Rule.NEVER_LOADED, ours.typeOf(id));
            } else if (order == Comparison.Order.HOTSPOT_FIRST) {
                findings.allow(Rule.CREATED_BETWEEN, ours.typeOf(id));
            } else {
                findings.differ("object that only ours has", ours.text(id));
            }
        }
    }

    /** It is a class object, and neither dump has a class of it. */
    private boolean isNeverLoaded(long id) {
        return recordless.contains(id) && !ours.classes.containsKey(id) && ours.typeOf(id).equals("java.lang.Class");
    }

    /** The ids that one dump has and the other has not, in ascending order. */
    private static TreeSet<Long> missing(HprofFile one, HprofFile other) {
        TreeSet<Long> missing = new TreeSet<>(one.objects.keySet());
        missing.addAll(one.classes.keySet());
        missing.removeIf(other::has);
        return missing;
    }

    /** All that an object of ours refers to must be there, unless HotSpot's too leaves it out. */
    private void references(long holder) {
        ours.eachReference(holder, id -> {
            if (id == 0 || ours.has(id)) {
                return;
            }
            if (recordless.contains(id)) {
                findings.allow(Rule.NOWHERE, "in " + ours.typeOf(holder));
            } else {
                findings.differ("reference to what ours does not have",
                        ours.text(holder) + " to @" + Long.toHexString(id) + ", in HotSpot's " + theirs.typeOf(id));
            }
        });
    }
}
