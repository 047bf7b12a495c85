package harness;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import kotlin.sequences.Sequence;
import shark.CloseableHeapGraph;
import shark.GcRoot;
import shark.HeapField;
import shark.HeapObject;
import shark.HprofHeapGraph;
import shark.HprofRecord.HeapDumpRecord.ObjectRecord.PrimitiveArrayDumpRecord;
import shark.HprofRecordTag;

/** LeakCanary's heap library as a judge of what is there; NetBeans' judges values. */
public final class SharkReader implements Judge, AutoCloseable {
    private final CloseableHeapGraph graph;

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
