package same;

import java.util.LinkedHashMap;
import java.util.Map;

/** Where in an instance of a class each field is: first those of the class, then those of its super classes. */
final class InstanceLayout {
    final Map<FieldKey, Integer> offsets = new LinkedHashMap<>();
    /** The places of the references among them. */
    final int[] references;
    /** How many bytes all fields take. */
    final int size;

    InstanceLayout(Map<Long, HprofClass> classes, long classId) {
        int offset = 0;
        for (HprofClass type = classes.get(classId); type != null; type = classes.get(type.superId)) {
            for (HprofField field : type.fields) {
                offsets.put(new FieldKey(type.id, field.name, field.type), offset);
                offset += field.type.size;
            }
        }
        size = offset;
        references = offsets.entrySet().stream().filter(field -> field.getKey().type == HprofType.OBJECT)
                .mapToInt(Map.Entry::getValue).toArray();
    }
}
