package same;

import static same.HprofRoot.Kind.JAVA_FRAME;
import static same.HprofRoot.Kind.JNI_GLOBAL;
import static same.HprofRoot.Kind.STICKY_CLASS;

import java.util.function.Predicate;

/** Faults of roots and stacks: roots that neither the JVM nor the bootstrap loader has, roots that are gone. */
final class RootFaults {
    private final Faults faults;
    private final HprofFile ours;

    RootFaults(Faults faults) {
        this.faults = faults;
        ours = faults.ours;
    }

    void make() {
        lost();
        invented();
        HprofRoot local = frame();
        ours.roots.removeIf(local::equals);
        ours.roots.add(new HprofRoot(local.kind, local.object, local.thread, local.frame + 1000));
        faults.expect(local.object, "root of kind JAVA_FRAME that only ours has",
                "root of kind JAVA_FRAME that only HotSpot's has");
        HprofFrame frame = ours.stacks.get(local.thread).get(0);
        ours.stacks.get(local.thread).set(0, new HprofFrame(faults.type("java.lang.String").id, frame.place));
        faults.expect(local.thread, "stack");
    }

    private HprofRoot frame() {
        return ours.roots.stream().filter(root -> root.kind == JAVA_FRAME
                && ours.typeOf(root.object).equals("same.ManyThreads$Local")).findFirst().get();
    }

    private void lost() {
        HprofRoot global = ours.roots.stream().filter(root -> root.kind == JNI_GLOBAL
                && ours.typeOf(root.object).equals("java.lang.ArithmeticException")).findFirst().get();
        lose(global.object, JNI_GLOBAL);
        lose(faults.type("java.lang.String").id, STICKY_CLASS);
    }

    private void lose(long object, HprofRoot.Kind kind) {
        ours.roots.removeIf(root -> root.kind == kind && root.object == object);
        faults.expect(object, "root of kind " + kind + " that only HotSpot's has");
    }

    private void invented() {
        invent(faults.leaf(0).id, JNI_GLOBAL);
        HprofClass quiet = faults.type("same.Quiet");
        invent(quiet.statics.stream().filter(field -> field.name.equals("<resolved_references>"))
                .findFirst().get().bits, JNI_GLOBAL);
        Predicate<HprofObject> ofLoader = object -> {
            Long loader = ours.field(object.id, "java.lang.Module", "loader");
            return loader != null && loader != 0;
        };
        invent(ours.objects.values().stream().filter(ofLoader).findFirst().get().id, JNI_GLOBAL);
        invent(quiet.id, JNI_GLOBAL);
        invent(faults.type("java.lang.String").statics.stream().filter(field -> field.name.equals("<resolved_references>"))
                .findFirst().get().bits, JNI_GLOBAL);
        invent(quiet.id, STICKY_CLASS);
        invent(faults.type("[Lsame.ManyFields$Level;").id, STICKY_CLASS);
        ours.classes.keySet().stream().filter(id -> ours.isHidden(id) && ours.name(id).startsWith("same.ManyClasses$Plugin+"))
                .findFirst().ifPresent(id -> invent(id, STICKY_CLASS));
    }

    private void invent(long object, HprofRoot.Kind kind) {
        ours.roots.add(new HprofRoot(kind, object, 0, -1));
        faults.expect(object, "root of kind " + kind + " that only ours has");
    }
}
