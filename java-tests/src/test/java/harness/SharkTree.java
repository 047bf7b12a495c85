package harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import shark.CloseableHeapGraph;
import shark.HeapGraph;
import shark.HprofHeapGraph;
import shark.HprofRecordTag;
import shark.internal.ObjectDominators;

/** The tree in which LeakCanary's Shark has each object of a dump below its dominator, and what it retains by its sizes. */
public final class SharkTree {
    /** What all others are below. */
    public static final long ROOT = 0;

    private final Map<Long, Long> parents = new HashMap<>();

    public SharkTree(Path dump) {
        try (CloseableHeapGraph graph =
                HprofHeapGraph.Companion.openHeapGraph(dump.toFile(), null, HprofRecordTag.Companion.getRootTags())) {
            // The public method prints the tree, without the ids of objects.
            Method build = ObjectDominators.class.getDeclaredMethod("buildDominatorTree", HeapGraph.class, List.class);
            build.setAccessible(true);
            Map<?, ?> tree = (Map<?, ?>) build.invoke(new ObjectDominators(), graph, List.of());
            for (Map.Entry<?, ?> entry : tree.entrySet()) {
                Method children = entry.getValue().getClass().getMethod("getDominatedObjectIds");
                children.setAccessible(true);
                for (Object child : (List<?>) children.invoke(entry.getValue())) {
                    parents.put((Long) child, (Long) entry.getKey());
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The objects that it knows, with the dominator of each. */
    public Map<Long, Long> dominators() {
        return parents;
    }

    /** Whether one object is above another one in the tree; the root is above all. */
    public boolean isAbove(long object, long other) {
        long above = other;
        while (above != ROOT && above != object) {
            above = parents.get(above);
        }
        return above == object;
    }
}
