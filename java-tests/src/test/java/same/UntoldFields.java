package same;

import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** The fields that HotSpot's dump has and that JVMTI does not report, so that ours cannot have them. */
final class UntoldFields {
    /** What HotSpot hides from reflection, JVMTI leaves out as well. */
    private static final String HIDDEN = "jdk.internal.reflect.ConstantPool.constantPoolOop";

    private final HprofFile ours;
    private final HprofFile theirs;
    /** The classes that have instances in either dump, and their super classes. */
    private final Set<Long> inhabited;

    UntoldFields(HprofFile ours, HprofFile theirs) {
        this.ours = ours;
        this.theirs = theirs;
        inhabited = inhabited(ours);
        inhabited.addAll(inhabited(theirs));
    }

    /** The classes that have instances, and their super classes. */
    static Set<Long> inhabited(HprofFile file) {
        Set<Long> inhabited = new HashSet<>();
        for (HprofObject object : file.objects.values()) {
            HprofClass type = object.kind == HprofObject.Kind.INSTANCE ? file.classes.get(object.classId) : null;
            while (type != null && inhabited.add(type.id)) {
                type = file.classes.get(type.superId);
            }
        }
        return inhabited;
    }

    /**
     * The class is loaded, not linked: nothing declared in ours, something in HotSpot's, which also has the lock that a
     * class has until it is initialised; and no instance anywhere, not of a subclass either.
     */
    boolean areOfUnlinked(long id) {
        HprofClass our = ours.classes.get(id);
        HprofClass their = theirs.classes.get(id);
        return our != null && their != null && !declares(our) && declares(their) && !inhabited.contains(id)
                && their.statics.stream().anyMatch(field -> field.isInitLock() && field.bits != 0);
    }

    private static boolean declares(HprofClass type) {
        return !type.fields.isEmpty() || type.statics.stream().anyMatch(HprofField::isDeclared);
    }

    /** The instance fields that the class itself declares. */
    List<HprofField> of(long id) {
        HprofClass our = ours.classes.get(id);
        HprofClass their = theirs.classes.get(id);
        if (our == null || their == null) {
            return Collections.emptyList();
        }
        return areOfUnlinked(id) ? their.fields : their.fields.stream()
                .filter(field -> HIDDEN.equals(theirs.name(id) + "." + field.name) && !our.fields.contains(field))
                .collect(Collectors.toList());
    }

    /** How many bytes of an instance they take, with those of the super classes. */
    int bytes(long id) {
        HprofClass our = ours.classes.get(id);
        return our == null ? 0 : of(id).stream().mapToInt(field -> field.type.size).sum() + bytes(our.superId);
    }

    /** Why they are not reported, for the class itself or a super class; null if it has none. */
    Rule rule(long id) {
        if (areOfUnlinked(id)) {
            return Rule.UNLINKED;
        }
        HprofClass our = ours.classes.get(id);
        return our == null ? null : of(id).isEmpty() ? rule(our.superId) : Rule.HIDDEN_FIELD;
    }
}
