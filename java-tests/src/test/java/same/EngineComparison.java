package same;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Compares two dumps of one quiet JVM that two engines made. Their ids differ, so the same object is sought first; then
 * classes, contents, roots and stacks must be the same, and with them the histograms.
 */
public final class EngineComparison {
    private final HprofFile ours;
    private final HprofFile theirs;
    private final EngineFindings findings = new EngineFindings();
    private final Twins twins;
    private final Findings result;

    private EngineComparison(HprofFile ours, HprofFile theirs, int times) {
        this.ours = ours;
        this.theirs = theirs;
        twins = new Twins(ours, theirs, findings);
        roots();
        stacks();
        onlyTheirs();
        onlyOurs();
        result = findings.finish(times);
    }

    /** Compares the earlier dump, which may be a fork's, with that of a walk. */
    public static EngineComparison of(Path ours, Path theirs) {
        return of(ours, theirs, 1);
    }

    /** The same of a program with so many times the classes of a small one: rules may let as many times as much pass. */
    static EngineComparison of(Path ours, Path theirs, int times) {
        return new EngineComparison(HprofFile.read(ours), HprofFile.read(theirs), times);
    }

    /** How many differences there are for which there is no rule. */
    public long differences() {
        return result.differences();
    }

    /** How many differences rules let pass because one of the dumps is a fork's. */
    public long allowedToForks() {
        return findings.allowedToForks();
    }

    /** How many objects were compared. */
    public long compared() {
        return ours.objects.keySet().stream().filter(id -> twins.their(id) != null).count();
    }

    @Override
    public String toString() {
        return compared() + " objects compared, " + result;
    }

    /** Roots are compared with how many there are of each. */
    private void roots() {
        Map<HprofRoot, Integer> counts = new HashMap<>();
        ours.roots.forEach(root -> counts.merge(root, 1, Integer::sum));
        for (HprofRoot root : theirs.roots) {
            Long object = twins.our(root.object);
            Long thread = twins.our(root.thread);
            if (root.kind == HprofRoot.Kind.JNI_GLOBAL && isConstants(root.object)
                    && !(object != null && counts.containsKey(new HprofRoot(root.kind, object, 0, root.frame)))) {
                findings.judge(EngineRule.CONSTANTS_OF_A_LOADER, theirs.typeOf(root.object), "", "");
            } else if (object == null || thread == null) {
                findings.differ("root that only the later dump has", root.kind + " " + theirs.text(root.object));
            } else {
                counts.merge(new HprofRoot(root.kind, object, thread, root.frame), -1, Integer::sum);
            }
        }
        counts.forEach((root, count) -> {
            if (count != 0) {
                findings.differ("number of a root", count + " more in the earlier dump: " + root.kind + " "
                        + ours.text(root.object) + " of " + ours.threadName(root.thread) + ", frame " + root.frame);
            }
        });
    }

    /** An array of the JVM's own, which a fork has as the constants of a class and a walk as a root. */
    private boolean isConstants(long id) {
        return theirs.typeOf(id).equals("[Ljava.lang.Object;");
    }

    private void stacks() {
        ours.stacks.forEach((thread, stack) -> {
            List<HprofFrame> their = new ArrayList<>();
            for (HprofFrame frame : theirs.stacks.getOrDefault(twins.their(thread), new ArrayList<>())) {
                Long type = twins.our(frame.classId);
                their.add(new HprofFrame(type == null ? -1 : type, frame.place));
            }
            if (!stack.equals(their)) {
                findings.differ("stack", ours.threadName(thread) + ": " + stack.size() + " and " + their.size() + " frames");
            }
        });
        if (ours.stacks.size() != theirs.stacks.size()) {
            findings.differ("threads", ours.stacks.size() + " and " + theirs.stacks.size());
        }
    }

    private void onlyTheirs() {
        Set<Long> held = theirs.roots.stream().filter(root -> root.kind == HprofRoot.Kind.JNI_GLOBAL)
                .map(root -> root.object).filter(this::isConstants).collect(Collectors.toCollection(HashSet::new));
        // Of arrays that are alike nobody knows which is which, nor of what they hold alone.
        theirs.roots.stream().map(root -> theirs.objects.get(root.object))
                .filter(array -> array != null && held.contains(array.id) && twins.our(array.id) == null)
                .forEach(array -> IntStream.range(0, array.length()).forEach(i -> held.add(array.element(i))));
        for (long id : ids(theirs)) {
            if (twins.our(id) != null) {
                continue;
            }
            if (held.contains(id)) {
                findings.judge(EngineRule.CONSTANTS_OF_A_LOADER, theirs.typeOf(id), "", "");
            } else {
                findings.differ("object that only the later dump has", theirs.text(id));
            }
        }
    }

    /** All but last: cuts the references that JVMTI does not tell, and sees what is left without a path. */
    private void onlyOurs() {
        List<Long> missing = ids(ours);
        missing.removeIf(id -> twins.their(id) != null);
        if (missing.isEmpty()) {
            return;
        }
        cut();
        Reachability reachability = new Reachability(ours);
        for (long id : missing) {
            EngineRule rule = reachability.reaches(id) ? null : EngineRule.HELD_BY_CLASS_OBJECT;
            findings.judge(rule, ours.typeOf(id), "object that only the earlier dump has", ours.text(id));
        }
    }

    private void cut() {
        for (HprofClass type : ours.classes.values()) {
            type.statics.removeIf(field -> !field.isDeclared());
            if (theirs.classes.containsKey(twins.their(type.id)) && theirs.classes.get(twins.their(type.id)).protectionDomain == 0) {
                type.protectionDomain = 0;
            }
        }
        ours.objects.replaceAll((id, object) -> ours.typeOf(id).equals("java.lang.Class")
                ? HprofObject.instance(id, object.classId, new byte[object.bytes.length]) : object);
    }

    private static List<Long> ids(HprofFile file) {
        List<Long> ids = new ArrayList<>(file.objects.keySet());
        ids.addAll(file.classes.keySet());
        return ids;
    }
}
