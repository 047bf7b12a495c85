package same;

import java.util.List;

/** Faults of classes: of all that rules let pass something beside it that they must not. */
final class ClassFaults {
    private final Faults faults;
    private final HprofFile ours;

    ClassFaults(Faults faults) {
        this.faults = faults;
        ours = faults.ours;
    }

    void make() {
        names();
        records();
        linked();
        unlinked();
    }

    /** An ordinary class has no hash code in its name; a hash code does not excuse another name. */
    private void names() {
        rename("same.ManyTexts$Link", "same.ManyTexts$Ring");
        rename("same.ManyFields$Middle", "same.ManyFields$Middle.1234567");
        rename("java.lang.invoke.LambdaForm$Name", "java.lang.invoke.LambdaForm$MH.1234567");
    }

    private void rename(String from, String to) {
        HprofClass type = faults.type(from);
        ours.addName(type.id, to);
        faults.expect(type.id, "name of a class");
    }

    private void records() {
        HprofClass statics = faults.type("same.ManyFields$Statics");
        replace(statics.statics, "oddNan", Double.doubleToRawLongBits(1));
        statics.statics.add(new HprofField("<of nothing>", HprofType.OBJECT, 4711));
        faults.expect(statics.id, "static field", "pseudo static field that holds no object",
                "reference to what ours does not have");
        HprofClass leaf = faults.type("same.ManyFields$Leaf");
        leaf.loader = 0;
        leaf.instanceSize++;
        faults.expect(leaf.id, "loader of a class", "instance size");
    }

    /** Classes that are linked must not pass for others: the lock is gone, or there are instances. */
    private void linked() {
        HprofClass constants = faults.type("same.ManyFields$Constants");
        constants.statics.removeIf(HprofField::isDeclared);
        faults.expect(constants.id, "static fields of a name");
        HprofClass local = faults.type("same.ManyThreads$Local");
        local.fields.clear();
        local.instanceSize -= HprofType.OBJECT.size;
        HprofField lock = new HprofField("<init_lock>", HprofType.OBJECT, faults.leaf(0).id);
        local.statics.add(lock);
        faults.theirs.classes.get(local.id).statics.add(lock);
        faults.expect(local.id, "fields of a class", "instance size");
        HprofClass root = faults.type("same.ManyFields$Root");
        root.statics.add(nameless());
        faults.expect(root.id, "static field without a name");
        HprofClass pool = faults.type("jdk.internal.reflect.ConstantPool");
        pool.instanceSize++;
        faults.expect(pool.id, "instance size");
    }

    private void unlinked() {
        HprofClass tooFew = faults.type("same.ManyClasses$NotInitialised");
        tooFew.statics.removeIf(field -> field.name.equals("<static>"));
        HprofClass tooMany = faults.type("same.ManyArrays$Level");
        tooMany.statics.add(nameless());
        faults.expect(tooFew.id, "static references of a class that is not linked");
        faults.expect(tooMany.id, "static references of a class that is not linked");
        HprofClass size = faults.type("same.ManyClasses$Plugin", type -> type.fields.isEmpty());
        size.instanceSize++;
        faults.expect(size.id, "instance size");
        HprofClass oneField = faults.type("java.util.HashMap$TreeNode");
        oneField.fields.add(new HprofField("red", HprofType.BOOLEAN, 0));
        faults.expect(oneField.id, "fields of a class", "instance size");
    }

    private HprofField nameless() {
        return new HprofField("<static>", HprofType.OBJECT, faults.leaf(0).id);
    }

    private static void replace(List<HprofField> fields, String name, long bits) {
        fields.replaceAll(field -> field.name.equals(name) ? new HprofField(name, field.type, bits) : field);
    }
}
