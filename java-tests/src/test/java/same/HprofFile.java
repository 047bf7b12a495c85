package same;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import java.util.regex.Pattern;

/** A dump in memory: classes, objects, roots and the stacks of threads, all by the ids of their objects. */
final class HprofFile {
    private static final Pattern HIDDEN = Pattern.compile("[+./](?=0x[0-9a-f]+;?$)");

    private final Map<Long, String> classNames = new HashMap<>();
    final Map<Long, HprofClass> classes = new HashMap<>();
    /** In the order of the file. */
    final Map<Long, HprofObject> objects = new LinkedHashMap<>();
    final List<HprofRoot> roots = new ArrayList<>();
    /** The frames of each thread, innermost first. */
    final Map<Long, List<HprofFrame>> stacks = new HashMap<>();
    /** Ids of more than one record. */
    final List<Long> repeated = new ArrayList<>();
    private final Map<Long, InstanceLayout> layouts = new HashMap<>();

    static HprofFile read(Path path) {
        try {
            return HprofReader.read(path);
        } catch (IOException | RuntimeException e) {
            throw new IllegalStateException("cannot read " + path + ": " + e.getMessage(), e);
        }
    }

    void add(HprofClass type) {
        if (classes.put(type.id, type) != null) {
            repeated.add(type.id);
        }
    }

    void add(HprofObject object) {
        if (objects.put(object.id, object) != null) {
            repeated.add(object.id);
        }
    }

    /** There is an object or a class of this id. */
    boolean has(long id) {
        return objects.containsKey(id) || classes.containsKey(id);
    }

    /** Takes down a name in the form with dots, and with a '+' before the address that a hidden class's name has. */
    void addName(long classId, String name) {
        classNames.put(classId, HIDDEN.matcher(name.replace('/', '.')).replaceAll("+"));
    }

    /** The name of a class. */
    String name(long classId) {
        String name = classNames.get(classId);
        return name == null ? "class " + Long.toHexString(classId) + " without a name" : name;
    }

    boolean isHidden(long classId) {
        return HIDDEN.matcher(name(classId)).find();
    }

    /** Hands out all references that an object or a class has, null ones too. */
    void eachReference(long id, LongConsumer consumer) {
        HprofClass type = classes.get(id);
        if (type != null) {
            type.references().forEach(consumer::accept);
        }
        HprofObject object = objects.get(id);
        if (object == null) {
            return;
        }
        consumer.accept(object.classId);
        if (object.kind == HprofObject.Kind.INSTANCE) {
            for (int offset : layout(object.classId).references) {
                consumer.accept(HprofType.OBJECT.read(object.bytes, offset));
            }
        } else if (object.kind == HprofObject.Kind.OBJECT_ARRAY) {
            for (int i = 0; i < object.length(); i++) {
                consumer.accept(object.element(i));
            }
        }
    }

    /** The id and what it is of, for messages. */
    String text(long id) {
        if (id == 0) {
            return "null";
        }
        return "@" + Long.toHexString(id) + " " + typeOf(id);
    }

    /** What an object is: the name of its class. */
    String typeOf(long id) {
        HprofObject object = objects.get(id);
        if (object == null) {
            return classes.containsKey(id) ? "class " + name(id) : "(not in the dump)";
        }
        return object.kind == HprofObject.Kind.PRIMITIVE_ARRAY ? object.type.name().toLowerCase() + "[]" : name(object.classId);
    }

    /** A frame for messages: class, method, signature, line. */
    String text(HprofFrame frame) {
        return name(frame.classId) + "." + frame.place;
    }

    /** Where an instance of a class has each field. */
    InstanceLayout layout(long classId) {
        return layouts.computeIfAbsent(classId, id -> new InstanceLayout(classes, id));
    }

    /** The bits of an instance's field, declared by the class of this name; null if there is none. */
    Long field(long id, String declaring, String name) {
        HprofObject object = objects.get(id);
        if (object == null || object.kind != HprofObject.Kind.INSTANCE) {
            return null;
        }
        for (Map.Entry<FieldKey, Integer> field : layout(object.classId).offsets.entrySet()) {
            FieldKey key = field.getKey();
            if (key.name.equals(name) && name(key.declaring).equals(declaring)) {
                return key.type.read(object.bytes, field.getValue());
            }
        }
        return null;
    }

    /** The text of a java.lang.String of Latin-1, as the names of the JVM's own threads are; else something else. */
    String latin(Long string) {
        Long value = string == null ? null : field(string, "java.lang.String", "value");
        HprofObject array = value == null ? null : objects.get(value);
        return array == null ? "" : new String(array.bytes, StandardCharsets.ISO_8859_1);
    }

    /** The name of a thread. */
    String threadName(long thread) {
        return latin(field(thread, "java.lang.Thread", "name"));
    }
}
