package same;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongPredicate;

/** Changes a dump in the ways in which ours may differ from HotSpot's. */
final class Liberties {
    private static final long ODD_NAN = Double.doubleToRawLongBits(ManyFields.ODD_NAN);

    /** An id that no object has. */
    private static final long NEW_ID = 1L << 40;

    private final HprofFile ours;
    private final HprofFile theirs;

    private Liberties(HprofFile ours, HprofFile theirs) {
        this.ours = ours;
        this.theirs = theirs;
    }

    /** Both are HotSpot's; if there is nothing that HotSpot's has for a rule, it gets it. */
    static void in(HprofFile ours, HprofFile theirs) {
        Liberties liberties = new Liberties(ours, theirs);
        liberties.turnFields();                          // before the file searches for its fields
        liberties.hideField();
        liberties.unlink();
        liberties.addClassObject();
        liberties.dropGarbage();
        liberties.keepNan();
        liberties.addPseudoStatics();
        liberties.addRoots();
    }

    /** The threads that the JVM hides are not there. */
    static void inSurvivors(HprofFile ours) {
        Reachability reachability = new Reachability(ours);
        ours.objects.keySet().removeIf(id -> ours.typeOf(id).equals("java.lang.Thread") && !reachability.reaches(id));
    }

    private void dropGarbage() {
        Reachability reachability = new Reachability(ours);
        ours.objects.keySet().removeIf(id -> !reachability.reaches(id));
    }

    /** Java 17 and 21 write the fields of a class in opposite orders. */
    private void turnFields() {
        Map<Long, HprofClass> before = new HashMap<>();
        for (HprofClass type : ours.classes.values()) {
            HprofClass copy = new HprofClass(type.id);
            copy.superId = type.superId;
            copy.fields.addAll(type.fields);
            before.put(type.id, copy);
            Collections.reverse(type.fields);
        }
        Map<Long, InstanceLayout> layouts = new HashMap<>();
        ours.objects.replaceAll((id, object) -> {
            if (object.kind != HprofObject.Kind.INSTANCE) {
                return object;
            }
            InstanceLayout from = layouts.computeIfAbsent(object.classId, type -> new InstanceLayout(before, type));
            return HprofObject.instance(id, object.classId, turned(object, from, ours.layout(object.classId)));
        });
    }

    private static byte[] turned(HprofObject object, InstanceLayout from, InstanceLayout to) {
        byte[] bytes = new byte[object.bytes.length];
        to.offsets.forEach((field, offset) ->
                System.arraycopy(object.bytes, from.offsets.get(field), bytes, offset, field.type.size));
        return bytes;
    }

    /** As if the class was initialised; then it is only this field that JVMTI does not report. */
    private void hideField() {
        HprofClass pool = type("jdk.internal.reflect.ConstantPool");
        pool.statics.removeIf(HprofField::isInitLock);
        theirs.classes.get(pool.id).statics.removeIf(HprofField::isInitLock);
        pool.fields.removeIf(field -> field.name.equals("constantPoolOop"));
        pool.instanceSize -= HprofType.OBJECT.size;
    }

    /** All classes without instances that are not initialised are as those that are not linked. */
    private void unlink() {
        Set<Long> inhabited = UntoldFields.inhabited(ours);
        List<Long> unlinked = new ArrayList<>();
        for (HprofClass type : ours.classes.values()) {
            if (!inhabited.contains(type.id) && type.statics.stream().anyMatch(HprofField::isInitLock)) {
                unlinked.add(type.id);
                type.fields.clear();
                type.statics.removeIf(field -> field.isDeclared() && (field.type != HprofType.OBJECT || field.bits == 0));
                type.statics.replaceAll(field ->
                        field.isDeclared() ? new HprofField("<static>", field.type, field.bits) : field);
            }
        }
        unlinked.forEach(id -> ours.classes.get(id).instanceSize = new InstanceLayout(ours.classes, id).size);
    }

    /** An archived class that was never loaded: arrays of both refer to its class object. */
    private void addClassObject() {
        long array = ours.objects.values().stream().filter(object -> object.kind == HprofObject.Kind.OBJECT_ARRAY
                && object.length() == 19 && object.element(0) == 0).findFirst().get().id;
        Faults.refer(ours, array, NEW_ID);
        Faults.refer(theirs, array, NEW_ID);
        long classId = type("java.lang.Class").id;
        ours.add(HprofObject.instance(NEW_ID, classId, new byte[ours.layout(classId).size]));
        ours.roots.add(new HprofRoot(HprofRoot.Kind.MONITOR_USED, array, 0, -1));
    }

    private void keepNan() {
        type("same.ManyFields$Statics").statics.replaceAll(field ->
                field.name.equals("oddNan") ? new HprofField(field.name, field.type, ODD_NAN) : field);
    }

    private void addPseudoStatics() {
        long object = ours.objects.keySet().iterator().next();
        type("same.ManyFields$Leaf").statics.add(new HprofField("<constant pool 7>", HprofType.OBJECT, object));
    }

    private void addRoots() {
        long thread = ours.stacks.keySet().stream().filter(id -> ours.threadName(id).equals("Attach Listener")).findFirst().get();
        ours.roots.add(new HprofRoot(HprofRoot.Kind.JNI_LOCAL, thread, thread, 0));
        add(HprofRoot.Kind.STICKY_CLASS, type("[Ljava.lang.String;").id);
        add(HprofRoot.Kind.STICKY_CLASS, first(id -> {
            HprofClass type = ours.classes.get(id);
            return type != null && type.loader == 0 && ours.name(id).startsWith("java.lang.invoke.LambdaForm$MH");
        }));
        // Of Java 11 alone it is no difference, and the other of later ones alone.
        if (ours.classes.keySet().stream().noneMatch(id -> ours.name(id).equals("java.lang.Record"))) {
            add(HprofRoot.Kind.JNI_GLOBAL, first(id -> ours.typeOf(id).equals("java.lang.invoke.MethodType")));
        } else {
            long main = ours.stacks.keySet().stream().filter(id -> ours.threadName(id).equals("main")).findFirst().get();
            ours.roots.add(new HprofRoot(HprofRoot.Kind.JAVA_FRAME, type("java.lang.Thread").id, main, -1));
        }
    }

    private void add(HprofRoot.Kind kind, long object) {
        ours.roots.add(new HprofRoot(kind, object, 0, -1));
    }

    private long first(LongPredicate wanted) {
        List<Long> all = new ArrayList<>(ours.objects.keySet());
        all.addAll(ours.classes.keySet());
        return all.stream().filter(wanted::test).findFirst().get();
    }

    private HprofClass type(String name) {
        return ours.classes.values().stream().filter(type -> ours.name(type.id).equals(name)).findFirst().get();
    }
}
