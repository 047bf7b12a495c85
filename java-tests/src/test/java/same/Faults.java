package same;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

/** Spoils a dump in the ways that a comparison must see, and knows what it must report. */
final class Faults {
    /** A difference that must be found, and the words of its report. */
    static final class Fault {
        final String kind;
        final String words;
        /** In which order; null in both. */
        private final Comparison.Order order;

        private Fault(String kind, String words, Comparison.Order order) {
            this.kind = kind;
            this.words = words;
            this.order = order;
        }
    }

    /** An id that no object has. */
    private static final long NEW_ID = (1L << 40) + 16;

    final HprofFile ours;
    final HprofFile theirs;
    private final Reachability reachability;
    private final List<Fault> all = new ArrayList<>();

    private Faults(HprofFile ours, HprofFile theirs) {
        this.ours = ours;
        this.theirs = theirs;
        reachability = new Reachability(ours);
    }

    /** Does it, to a dump with all liberties. */
    static Faults in(HprofFile ours, HprofFile theirs) {
        Faults faults = new Faults(ours, theirs);
        faults.contents();
        faults.presence();
        new ClassFaults(faults).make();
        new RootFaults(faults).make();
        return faults;
    }

    List<Fault> of(Comparison.Order order) {
        List<Fault> some = new ArrayList<>(all);
        some.removeIf(fault -> fault.order != null && fault.order != order);
        return some;
    }

    static Set<String> kinds(List<Fault> faults) {
        Set<String> kinds = new TreeSet<>();
        faults.forEach(fault -> kinds.add(fault.kind));
        return kinds;
    }

    /** These kinds of differences must be reported of this object or class. */
    void expect(long id, String... kinds) {
        Arrays.asList(kinds).forEach(kind -> all.add(new Fault(kind, at(id), null)));
    }

    private static String at(long id) {
        return "@" + Long.toHexString(id) + " ";
    }

    private void contents() {
        flip(leaf(0), "same.ManyFields$Root", "hidden");
        flip(leaf(1), "same.ManyFields$Leaf", "value");
        HprofObject longs = some(object -> object.type == HprofType.LONG && object.length() == 19);
        longs.bytes[8 * 18 + 7] ^= 1;
        expect(longs.id, "element of an array");
        HprofObject shorts = some(object -> object.type == HprofType.SHORT && object.length() == 19);
        ours.add(HprofObject.primitives(shorts.id, HprofType.SHORT, new byte[2 * 18]));
        expect(shorts.id, "length of an array");
        HprofObject chars = some(object -> object.type == HprofType.CHAR && object.length() == 19);
        ours.add(HprofObject.primitives(chars.id, HprofType.SHORT, chars.bytes));
        expect(chars.id, "class of an object");
        ours.repeated.clear();
    }

    private void presence() {
        HprofObject bytes = some(object -> object.type == HprofType.BYTE && object.length() == 19);
        ours.objects.remove(bytes.id);
        all.add(new Fault("reference to what ours does not have", "to " + at(bytes.id).trim(), null));
        all.add(new Fault("reachable object that only HotSpot's has", at(bytes.id), Comparison.Order.HOTSPOT_FIRST));
        // A class object that HotSpot's does not refer to, and an object that HotSpot's refers to but is none.
        addOnlyToOurs(NEW_ID, "java.lang.Class");
        addOnlyToOurs(NEW_ID + 16, "java.lang.Object");
        HprofObject holder = some(object -> object.kind == HprofObject.Kind.OBJECT_ARRAY
                && object.length() == 16 && object.element(0) == 0);
        refer(theirs, holder.id, NEW_ID + 16);
        refer(ours, holder.id, NEW_ID + 16);
    }

    private void addOnlyToOurs(long id, String type) {
        long classId = type(type).id;
        ours.add(HprofObject.instance(id, classId, new byte[ours.layout(classId).size]));
        all.add(new Fault("object that only ours has", at(id), Comparison.Order.OURS_FIRST));
    }

    /** Has the first element of an array refer to something else. */
    static void refer(HprofFile file, long array, long id) {
        for (int i = 0; i < 8; i++) {
            file.objects.get(array).bytes[i] = (byte) (id >> 8 * (7 - i));
        }
    }

    HprofObject leaf(int number) {
        long type = type("same.ManyFields$Leaf").id;
        return ours.objects.values().stream().filter(object -> object.classId == type).skip(number).findFirst().get();
    }

    private void flip(HprofObject object, String declaring, String name) {
        ours.layout(object.classId).offsets.forEach((field, offset) -> {
            if (field.name.equals(name) && ours.name(field.declaring).equals(declaring)) {
                object.bytes[offset] ^= 1;
            }
        });
        expect(object.id, "field");
    }

    /** One of the subject's arrays: reached, so that no rule takes it for garbage. */
    private HprofObject some(Predicate<HprofObject> wanted) {
        return ours.objects.values().stream().filter(object -> object.kind != HprofObject.Kind.INSTANCE)
                .filter(wanted).filter(object -> reachability.reaches(object.id)).findFirst().get();
    }

    HprofClass type(String name) {
        return type(name, type -> true);
    }

    HprofClass type(String name, Predicate<HprofClass> wanted) {
        return ours.classes.values().stream().filter(type -> ours.name(type.id).equals(name)).filter(wanted).findFirst().get();
    }
}
