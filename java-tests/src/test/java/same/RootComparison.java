package same;

import static same.HprofRoot.Kind.JAVA_FRAME;
import static same.HprofRoot.Kind.JNI_GLOBAL;
import static same.HprofRoot.Kind.JNI_LOCAL;
import static same.HprofRoot.Kind.STICKY_CLASS;
import static same.HprofRoot.Kind.THREAD_OBJ;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Compares the roots kind by kind, each kind as a set, and the stacks of the threads. */
final class RootComparison {
    private static final Set<HprofRoot.Kind> COMPARED = EnumSet.of(STICKY_CLASS, JAVA_FRAME, JNI_LOCAL, THREAD_OBJ, JNI_GLOBAL);

    private final HprofFile ours;
    private final HprofFile theirs;
    private final UnlistedRoots unlisted;
    private final Findings findings;

    RootComparison(HprofFile ours, HprofFile theirs, Comparison.Order order, Findings findings) {
        this.ours = ours;
        this.theirs = theirs;
        this.findings = findings;
        unlisted = new UnlistedRoots(ours, theirs, order);
    }

    void compare() {
        for (HprofRoot.Kind kind : HprofRoot.Kind.values()) {
            if (COMPARED.contains(kind)) {
                compare(kind);
            } else {
                list(kind);
            }
        }
        stacks();
    }

    private void compare(HprofRoot.Kind kind) {
        Set<HprofRoot> our = roots(ours, kind);
        Set<HprofRoot> their = roots(theirs, kind);
        our.stream().filter(root -> !their.contains(root)).forEach(root -> only("ours", ours, root));
        their.stream().filter(root -> !our.contains(root)).forEach(root -> only("HotSpot's", theirs, root));
        findings.note("roots of kind " + kind + ": ours " + our.size() + ", HotSpot's " + their.size());
    }

    private void only(String whose, HprofFile file, HprofRoot root) {
        Rule rule = file == ours ? unlisted.rule(root) : null;
        if (serves(file, root.thread)) {
            findings.allow(Rule.SERVING_THREAD, "root of kind " + root.kind);
        } else if (rule != null) {
            findings.allow(rule, file.typeOf(root.object));
        } else if (file == theirs && !theirs.has(root.object)) {
            findings.allow(Rule.RECORDLESS, "root of kind " + root.kind);
        } else {
            findings.differ("root of kind " + root.kind + " that only " + whose + " has", text(file, root));
        }
    }

    private void list(HprofRoot.Kind kind) {
        Set<HprofRoot> our = roots(ours, kind);
        Set<HprofRoot> their = roots(theirs, kind);
        if (!our.isEmpty() || !their.isEmpty()) {
            findings.note("roots of kind " + kind + ", not compared: ours " + our.size() + ", HotSpot's " + their.size());
        }
    }

    private void stacks() {
        TreeSet<Long> threads = new TreeSet<>(ours.stacks.keySet());
        threads.retainAll(theirs.stacks.keySet());
        for (long thread : threads) {
            if (ours.stacks.get(thread).equals(theirs.stacks.get(thread))) {
                continue;
            }
            if (serves(ours, thread)) {
                findings.allow(Rule.SERVING_THREAD, "stack");
            } else {
                findings.differ("stack", ours.text(thread) + " " + ours.threadName(thread) + ": ours " + stack(ours, thread)
                        + ", HotSpot's " + stack(theirs, thread));
            }
        }
    }

    private static Set<HprofRoot> roots(HprofFile file, HprofRoot.Kind kind) {
        return file.roots.stream().filter(root -> root.kind == kind).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** The thread carries out the requests that come from outside. */
    private static boolean serves(HprofFile file, long thread) {
        return thread != 0 && file.threadName(thread).equals("Attach Listener");
    }

    private static String text(HprofFile file, HprofRoot root) {
        if (root.thread == 0) {
            return file.text(root.object);
        }
        return file.text(root.object) + " of thread @" + Long.toHexString(root.thread) + " " + file.threadName(root.thread)
                + ", frame " + root.frame + " " + frame(file, root);
    }

    private static String frame(HprofFile file, HprofRoot root) {
        List<String> stack = stack(file, root.thread);
        return root.frame >= 0 && root.frame < stack.size() ? stack.get(root.frame) : "";
    }

    private static List<String> stack(HprofFile file, long thread) {
        List<String> stack = new ArrayList<>();
        file.stacks.getOrDefault(thread, new ArrayList<>()).forEach(frame -> stack.add(file.text(frame)));
        return stack;
    }
}
