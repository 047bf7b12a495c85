package same;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/** The roots that HotSpot's own dump leaves out, as they belong to the bootstrap loader, to the JVM or to compiled frames. */
final class UnlistedRoots {
    /** What Java 11 holds beside its handles, which 17 lists: types of method handles that it calls, its loaders. */
    private static final Set<String> HELD_BY_11 = new HashSet<>(Arrays.asList("java.lang.invoke.MethodType",
            "jdk.internal.loader.ClassLoaders$AppClassLoader", "jdk.internal.loader.ClassLoaders$PlatformClassLoader"));

    private final HprofFile ours;
    private final HprofFile theirs;
    private final Comparison.Order order;
    private final boolean isJava11;
    /** An empty array that Java 11 locks for a loader that does not lock; 0 until it is met. */
    private long systemLock;

    UnlistedRoots(HprofFile ours, HprofFile theirs, Comparison.Order order) {
        this.ours = ours;
        this.theirs = theirs;
        this.order = order;
        isJava11 = theirs.classes.keySet().stream().noneMatch(id -> theirs.name(id).equals("java.lang.Record"));
    }

    /** Why only ours has the root; null if there is no reason. */
    Rule rule(HprofRoot root) {
        if (isNew(root)) {
            return Rule.CREATED_BETWEEN;
        }
        switch (root.kind) {
            case JNI_GLOBAL: return isHeld(root.object) ? Rule.HELD_BY_JVM : null;
            case JAVA_FRAME: return root.frame < 0 && theirs.has(root.object) ? withoutFrame() : null;
            case STICKY_CLASS: return ruleOfClass(theirs.classes.get(root.object));
            default: return null;
        }
    }

    private Rule withoutFrame() {
        return isJava11 ? Rule.HANDLE : Rule.COMPILED_FRAME;
    }

    /** Our dump, which was the later one, has had the bootstrap loader link and load classes. */
    private boolean isNew(HprofRoot root) {
        HprofClass type = ours.classes.get(root.object);
        return order == Comparison.Order.HOTSPOT_FIRST && !theirs.has(root.object)
                && root.kind == HprofRoot.Kind.STICKY_CLASS && type != null && type.loader == 0;
    }

    private boolean isHeld(long id) {
        return isJava11 && (HELD_BY_11.contains(theirs.typeOf(id)) || isSystemLock(id));
    }

    private boolean isSystemLock(long id) {
        HprofObject object = theirs.objects.get(id);
        if (object == null || object.type != HprofType.INT || object.length() > 0) {
            return false;
        }
        systemLock = systemLock == 0 ? id : systemLock;
        return systemLock == id;
    }

    private Rule ruleOfClass(HprofClass type) {
        if (type == null || type.loader != 0) {
            return null;
        }
        String name = theirs.name(type.id);
        if (name.startsWith("[")) {
            return Rule.BOOT_ARRAY_CLASS;
        }
        return theirs.isHidden(type.id) || isJava11 && AnonymousNames.has(name)
                ? Rule.DEPENDED_ON : null;
    }
}
