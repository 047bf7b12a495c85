package harness;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import kotlin.sequences.Sequence;
import shark.CloseableHeapGraph;
import shark.GcRoot;
import shark.HeapField;
import shark.HeapObject;
import shark.HprofHeapGraph;
import shark.HprofRecordTag;
import shark.ValueHolder;

/** What can be reached in a dump from its roots over the references it holds, which is what tools show of it. */
public final class Reach {
    /** Invented fields that every dump has; what only others lead to is held by mirrors alone, and not all dumps have it. */
    private static final String[] TOLD_BY_ALL = {"<resolved_references>", "<constant pool"};

    private final Histogram reached = new Histogram();
    private final Histogram unreached = new Histogram();
    private final Set<Long> seen = new HashSet<>();
    private final Deque<Long> heldByMirrors = new ArrayDeque<>();
    private final Deque<Long> open = new ArrayDeque<>();

    public Reach(Path dump) {
        Set<? extends HprofRecordTag> roots = HprofRecordTag.Companion.getRootTags();
        try (CloseableHeapGraph graph = HprofHeapGraph.Companion.openHeapGraph(dump.toFile(), null, roots)) {
            for (GcRoot root : graph.getGcRoots()) {
                if (!isTheAgents(root, graph)) {
                    see(root.getId());
                }
            }
            followAll(graph);
            Set<Long> plainly = new HashSet<>(seen);
            heldByMirrors.forEach(this::see);
            followAll(graph);
            seen.removeAll(plainly);
            Set<Long> byMirrors = new HashSet<>(seen);
            seen.clear();
            seen.addAll(plainly);
            for (HeapObject object : each(graph.getObjects())) {
                if (!byMirrors.contains(object.getObjectId())) {
                    count(object);
                }
            }
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** The objects that the agent keeps for its check of the JVM, in an array; what it writes of a copy is without them. */
    private static boolean isTheAgents(GcRoot root, CloseableHeapGraph graph) {
        boolean isOfCode = root instanceof GcRoot.JniGlobal || root instanceof GcRoot.JniLocal;
        HeapObject object = isOfCode ? graph.findObjectByIdOrNull(root.getId()) : null;
        if (!(object instanceof HeapObject.HeapObjectArray)) {
            return false;
        }
        long[] elements = ((HeapObject.HeapObjectArray) object).readRecord().getElementIds();
        return elements.length > 2 && isOf("java.lang.Boolean", graph, elements[0]) && isOf("java.lang.Byte", graph, elements[1]);
    }

    private static boolean isOf(String name, CloseableHeapGraph graph, long id) {
        HeapObject object = graph.findObjectByIdOrNull(id);
        return object != null && SharkReader.className(object).equals(name);
    }

    private void followAll(CloseableHeapGraph graph) {
        while (!open.isEmpty()) {
            HeapObject object = graph.findObjectByIdOrNull(open.pop());
            if (object != null) {
                follow(object);
            }
        }
    }

    public Histogram reached() {
        return reached;
    }

    public Histogram unreached() {
        return unreached;
    }

    private void count(HeapObject object) {
        if (!(object instanceof HeapObject.HeapClass)) {
            (seen.contains(object.getObjectId()) ? reached : unreached).add(SharkReader.className(object), 1);
        }
    }

    private void see(long id) {
        if (id != 0 && seen.add(id)) {
            open.push(id);
        }
    }

    private void follow(HeapObject object) {
        if (object instanceof HeapObject.HeapInstance) {
            HeapObject.HeapInstance instance = (HeapObject.HeapInstance) object;
            see(instance.getInstanceClassId());
            each(instance.readFields()).forEach(this::follow);
        } else if (object instanceof HeapObject.HeapObjectArray) {
            HeapObject.HeapObjectArray array = (HeapObject.HeapObjectArray) object;
            see(array.getArrayClass().getObjectId());
            for (long id : array.readRecord().getElementIds()) {
                see(id);
            }
        } else if (object instanceof HeapObject.HeapPrimitiveArray) {
            see(((HeapObject.HeapPrimitiveArray) object).getArrayClass().getObjectId());
        } else {
            HeapObject.HeapClass type = (HeapObject.HeapClass) object;
            see(type.readRecord().getSuperclassId());
            see(type.readRecord().getClassLoaderId());
            see(type.readRecord().getProtectionDomainId());
            see(type.readRecord().getSignersId());
            each(type.readStaticFields()).forEach(this::follow);
        }
    }

    private void follow(HeapField field) {
        ValueHolder value = field.getValue().getHolder();
        if (value instanceof ValueHolder.ReferenceHolder) {
            long id = ((ValueHolder.ReferenceHolder) value).getValue();
            if (isToldByAll(field.getName())) {
                see(id);
            } else {
                heldByMirrors.add(id);
            }
        }
    }

    private static boolean isToldByAll(String name) {
        return !name.equals("init_lock")
                && (!name.startsWith("<") || java.util.Arrays.stream(TOLD_BY_ALL).anyMatch(name::startsWith));
    }

    private static <T> Iterable<T> each(Sequence<T> sequence) {
        return sequence::iterator;
    }
}
