package same;

import java.util.Arrays;
import java.util.function.LongFunction;

/** What an object looks like: its class, its values, and so on for what it refers to, a few steps far. */
final class Fingerprints {
    private static final int STEPS = 4;
    /** Ample for what only a root leads to; what is behind it may be the whole heap. */
    private static final int MOST_OBJECTS = 10_000;

    private final HprofFile file;
    /** What tells an object from all others, if it is known; else null. */
    private final LongFunction<Long> identity;
    /** How many objects may still be looked at for the fingerprint that is being taken. */
    private int left;

    Fingerprints(HprofFile file, LongFunction<Long> identity) {
        this.file = file;
        this.identity = identity;
    }

    int of(long id) {
        left = MOST_OBJECTS;
        return of(id, STEPS);
    }

    private int of(long id, int steps) {
        Long known = identity.apply(id);
        HprofObject object = file.objects.get(id);
        if (known != null || object == null || left-- <= 0) {
            return 31 * Long.hashCode(known == null ? 0 : known) + (id == 0 ? 0 : 1);
        }
        int[] print = {file.typeOf(id).hashCode()};
        if (object.kind == HprofObject.Kind.PRIMITIVE_ARRAY) {
            return 31 * print[0] + Arrays.hashCode(object.bytes);
        }
        // What class objects hold, engines may see or not.
        if (steps > 0 && object.kind == HprofObject.Kind.INSTANCE && !file.typeOf(id).equals("java.lang.Class")) {
            file.layout(object.classId).offsets.forEach(
                    (field, offset) -> print[0] = 31 * print[0] + of(field.type, field.type.read(object.bytes, offset), steps));
        }
        for (int i = 0; steps > 0 && left > 0 && object.kind == HprofObject.Kind.OBJECT_ARRAY && i < object.length(); i++) {
            print[0] = 31 * print[0] + of(HprofType.OBJECT, object.element(i), steps);
        }
        return print[0];
    }

    private int of(HprofType type, long bits, int steps) {
        return type == HprofType.OBJECT ? of(bits, steps - 1) : Long.hashCode(bits);
    }
}
