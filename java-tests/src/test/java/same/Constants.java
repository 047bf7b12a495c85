package same;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** The constants of classes, which a walk has one by one as static fields, and the fork as an array. */
final class Constants {
    private static final String WALKED = "<constant pool";
    private static final String FORKED = "<resolved_references>";

    private Constants() {}

    /** The strings among the constants of a class by their text: each is there once, as literals are interned. */
    static Map<String, Long> literals(HprofFile file, HprofClass type) {
        Map<String, Long> literals = new HashMap<>();
        for (HprofField field : type.statics) {
            HprofObject array = field.name.equals(FORKED) ? file.objects.get(field.bits) : null;
            for (int i = 0; array != null && i < array.length(); i++) {
                add(file, array.element(i), literals);
            }
            if (field.name.startsWith(WALKED)) {
                add(file, field.bits, literals);
            }
        }
        return literals;
    }

    /** The arrays that a fork has. */
    static Stream<HprofObject> arrays(HprofFile file) {
        return file.classes.values().stream().flatMap(type -> type.statics.stream())
                .filter(field -> field.name.equals(FORKED)).map(field -> file.objects.get(field.bits)).filter(Objects::nonNull).distinct();
    }

    private static void add(HprofFile file, long id, Map<String, Long> literals) {
        HprofObject text = text(file, id);
        if (text != null) {
            literals.put(file.latin(id), id);
        }
    }

    /** The characters of a string; null if it is none. */
    private static HprofObject text(HprofFile file, long id) {
        Long value = file.field(id, "java.lang.String", "value");
        return value == null ? null : file.objects.get(value);
    }
}
