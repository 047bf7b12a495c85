package harness;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import kotlin.sequences.Sequence;
import shark.CloseableHeapGraph;
import shark.GcRoot;
import shark.HeapField;
import shark.HeapObject;
import shark.HprofHeapGraph;
import shark.HprofRecord.HeapDumpRecord.ObjectRecord.PrimitiveArrayDumpRecord;
import shark.HprofRecordTag;
import shark.ValueHolder;

/** LeakCanary's heap library as a judge. */
public final class SharkReader implements HeapView {
    private final CloseableHeapGraph graph;
    /** The instances of a class are searched once: Shark reads all objects. */
    private final Map<String, List<HeapObject.HeapInstance>> found = new HashMap<>();

    public SharkReader(Path dump) {
        graph = HprofHeapGraph.Companion.openHeapGraph(dump.toFile(), null, HprofRecordTag.Companion.getRootTags());
    }

    @Override
    public String name() {
        return "Shark";
    }

    @Override
    public Histogram histogram() {
        // A name is made once for each class, not for each object.
        Map<Object, Long> counts = new HashMap<>();
        Map<Object, String> names = new HashMap<>();
        for (HeapObject object : each(graph.getObjects())) {
            if (!(object instanceof HeapObject.HeapClass)) {
                Object type = type(object);
                counts.merge(type, 1L, Long::sum);
                names.computeIfAbsent(type, unknown -> className(object));
            }
        }
        Histogram histogram = new Histogram();
        counts.forEach((type, count) -> histogram.add(names.get(type), count));
        return histogram;
    }

    /** What is the same for all objects of a class, and costs nothing to ask for. */
    private static Object type(HeapObject object) {
        if (object instanceof HeapObject.HeapInstance) {
            return ((HeapObject.HeapInstance) object).getInstanceClassId();
        } else if (object instanceof HeapObject.HeapObjectArray) {
            return ((HeapObject.HeapObjectArray) object).getArrayClassId();
        }
        return ((HeapObject.HeapPrimitiveArray) object).getPrimitiveType();
    }

    @Override
    public String staticField(String className, String field) {
        HeapField found = theClass(className).readStaticField(field);
        if (found == null) {
            throw new AssertionError("Shark: no static field " + field + " in " + className);
        }
        return value(found.getValue().getHolder());
    }

    @Override
    public String field(String className, String declaring, String field) {
        List<HeapObject.HeapInstance> instances = found.computeIfAbsent(className, this::instances);
        if (instances.size() != 1) {
            throw new AssertionError("Shark: " + instances.size() + " instances of " + className);
        }
        HeapField value = instances.get(0).readField(declaring, field);
        if (value == null) {
            throw new AssertionError("Shark: no field " + declaring + "." + field + " in " + className);
        }
        return value(value.getValue().getHolder());
    }

    private List<HeapObject.HeapInstance> instances(String className) {
        List<HeapObject.HeapInstance> instances = new ArrayList<>();
        each(theClass(className).getDirectInstances()).forEach(instances::add);
        return instances;
    }

    @Override
    public Set<String> strings() {
        Set<String> strings = new HashSet<>();
        for (HeapObject.HeapInstance string : each(theClass("java.lang.String").getDirectInstances())) {
            strings.add(text(string));
        }
        return strings;
    }

    /** Shark decodes char arrays, which strings are on Java 8, one by one: surrogates become U+FFFD. */
    @Override
    public String blurred(String value) {
        HeapObject.HeapClass string = theClass("java.lang.String");
        boolean bytes = string.readRecordFields().stream().anyMatch(field -> string.instanceFieldName(field).equals("coder"));
        return bytes ? value : value.replaceAll("\\\\ud[89a-f][0-9a-f]{2}", "\\\\ufffd");
    }

    /** The names of the threads that are roots. */
    public List<String> threads() {
        List<String> names = new ArrayList<>();
        for (GcRoot root : graph.getGcRoots()) {
            if (root instanceof GcRoot.ThreadObject) {
                HeapObject.HeapInstance thread = graph.findObjectById(root.getId()).getAsInstance();
                HeapObject.HeapInstance name = thread.get("java.lang.Thread", "name").getValueAsInstance();
                names.add(name == null ? charArrayName(thread) : text(name));
            }
        }
        return names;
    }

    @Override
    public void close() {
        try {
            graph.close();
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static String charArrayName(HeapObject.HeapInstance thread) {
        PrimitiveArrayDumpRecord chars = thread.get("java.lang.Thread", "name").getValueAsPrimitiveArray().readRecord();
        return new String(((PrimitiveArrayDumpRecord.CharArrayDump) chars).getArray());
    }

    private HeapObject.HeapClass theClass(String name) {
        HeapObject.HeapClass found = graph.findClassByName(name);
        if (found == null) {
            throw new AssertionError("Shark: no class " + name);
        }
        return found;
    }

    private String value(ValueHolder holder) {
        if (holder instanceof ValueHolder.BooleanHolder) {
            return "" + ((ValueHolder.BooleanHolder) holder).getValue();
        } else if (holder instanceof ValueHolder.CharHolder) {
            return "" + (int) ((ValueHolder.CharHolder) holder).getValue();
        } else if (holder instanceof ValueHolder.FloatHolder) {
            return "" + ((ValueHolder.FloatHolder) holder).getValue();
        } else if (holder instanceof ValueHolder.DoubleHolder) {
            return "" + ((ValueHolder.DoubleHolder) holder).getValue();
        } else if (holder instanceof ValueHolder.ByteHolder) {
            return "" + ((ValueHolder.ByteHolder) holder).getValue();
        } else if (holder instanceof ValueHolder.ShortHolder) {
            return "" + ((ValueHolder.ShortHolder) holder).getValue();
        } else if (holder instanceof ValueHolder.IntHolder) {
            return "" + ((ValueHolder.IntHolder) holder).getValue();
        } else if (holder instanceof ValueHolder.LongHolder) {
            return "" + ((ValueHolder.LongHolder) holder).getValue();
        }
        return reference(((ValueHolder.ReferenceHolder) holder).getValue());
    }

    private String reference(long id) {
        if (id == 0) {
            return "null";
        }
        HeapObject object = graph.findObjectById(id);
        if (object instanceof HeapObject.HeapPrimitiveArray) {
            return Values.array(className(object), elements(((HeapObject.HeapPrimitiveArray) object).readRecord()));
        } else if (object instanceof HeapObject.HeapObjectArray) {
            List<String> elements = new ArrayList<>();
            for (long element : ((HeapObject.HeapObjectArray) object).readRecord().getElementIds()) {
                elements.add(reference(element));
            }
            return Values.array(className(object), elements);
        } else if (className(object).equals("java.lang.String")) {
            return Values.quoted(text(object.getAsInstance()));
        }
        return "@" + className(object);
    }

    private static List<String> elements(PrimitiveArrayDumpRecord array) {
        List<String> elements = new ArrayList<>();
        if (array instanceof PrimitiveArrayDumpRecord.BooleanArrayDump) {
            for (boolean e : ((PrimitiveArrayDumpRecord.BooleanArrayDump) array).getArray()) elements.add("" + e);
        } else if (array instanceof PrimitiveArrayDumpRecord.CharArrayDump) {
            for (char e : ((PrimitiveArrayDumpRecord.CharArrayDump) array).getArray()) elements.add("" + (int) e);
        } else if (array instanceof PrimitiveArrayDumpRecord.FloatArrayDump) {
            for (float e : ((PrimitiveArrayDumpRecord.FloatArrayDump) array).getArray()) elements.add("" + e);
        } else if (array instanceof PrimitiveArrayDumpRecord.DoubleArrayDump) {
            for (double e : ((PrimitiveArrayDumpRecord.DoubleArrayDump) array).getArray()) elements.add("" + e);
        } else if (array instanceof PrimitiveArrayDumpRecord.ByteArrayDump) {
            for (byte e : ((PrimitiveArrayDumpRecord.ByteArrayDump) array).getArray()) elements.add("" + e);
        } else if (array instanceof PrimitiveArrayDumpRecord.ShortArrayDump) {
            for (short e : ((PrimitiveArrayDumpRecord.ShortArrayDump) array).getArray()) elements.add("" + e);
        } else if (array instanceof PrimitiveArrayDumpRecord.IntArrayDump) {
            for (int e : ((PrimitiveArrayDumpRecord.IntArrayDump) array).getArray()) elements.add("" + e);
        } else {
            for (long e : ((PrimitiveArrayDumpRecord.LongArrayDump) array).getArray()) elements.add("" + e);
        }
        return elements;
    }

    private static String text(HeapObject.HeapInstance string) {
        HeapField value = string.get("java.lang.String", "value");
        HeapObject.HeapPrimitiveArray array = value.getValueAsPrimitiveArray();
        if (array == null) {
            return "";                                   // a string caught while it is being built
        }
        PrimitiveArrayDumpRecord record = array.readRecord();
        if (record instanceof PrimitiveArrayDumpRecord.CharArrayDump) {
            return new String(((PrimitiveArrayDumpRecord.CharArrayDump) record).getArray());
        }
        byte coder = string.get("java.lang.String", "coder").getValue().getAsByte();
        return Values.text(((PrimitiveArrayDumpRecord.ByteArrayDump) record).getArray(), coder);
    }

    static String className(HeapObject object) {
        if (object instanceof HeapObject.HeapInstance) {
            return Names.source(((HeapObject.HeapInstance) object).getInstanceClassName());
        } else if (object instanceof HeapObject.HeapObjectArray) {
            return Names.source(((HeapObject.HeapObjectArray) object).getArrayClassName());
        } else if (object instanceof HeapObject.HeapPrimitiveArray) {
            return Names.source(((HeapObject.HeapPrimitiveArray) object).getArrayClassName());
        }
        return "java.lang.Class";
    }

    private static <T> Iterable<T> each(Sequence<T> sequence) {
        return sequence::iterator;
    }
}
