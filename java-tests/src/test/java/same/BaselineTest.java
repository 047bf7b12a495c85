package same;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.OnlyInTestAll;
import harness.Rows;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** The comparison on trial, without the agent: it finds nothing where nothing is, and names each kind of fault that is there. */
class BaselineTest {
    @TempDir Path folder;

    /** 11, where classes have other names, and a later one, where they may be hidden. */
    static List<Jdk> elevenAndLater() {
        return Stream.of(11, 17).map(Jdks::of).collect(Collectors.toList());
    }

    @OnlyInTestAll("it judges the comparison, not the product")
    @ParameterizedTest
    @Rows("elevenAndLater")
    void faultsAreFound(Jdk jdk) {
        Path dump = folder.resolve("hotspot.hprof");
        Path survivors = folder.resolve("survivors.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-Xmx512m").run(Quiet.class).ready()) {
            jvm.hotspotDumpAll(dump);
            jvm.hotspotDump(survivors);
        }
        HprofFile ours = HprofFile.read(dump);
        HprofFile theirs = HprofFile.read(dump);
        Findings none = Comparison.of(ours, theirs, Comparison.Order.HOTSPOT_FIRST);
        assertEquals(0, none.differences(), none::toString);
        ours.objects.keySet().removeIf(id -> ours.typeOf(id).equals("same.ManyThreads$Local"));
        Findings lost = new Findings();
        Survivors.compare(ours, HprofFile.read(survivors), lost);
        assertTrue(lost.tells("survivors that HotSpot's roots lead to and ours has not", "same.ManyThreads$Local"), lost::toString);
        Set<String> expected = spoil(HprofFile.read(dump), theirs);
        Findings found = Comparison.of(theirs, HprofFile.read(dump), Comparison.Order.HOTSPOT_FIRST);
        assertEquals(expected, found.kinds(), found::toString);
    }

    /** Changes this dump, and gives the kinds of what must be reported. */
    private static Set<String> spoil(HprofFile sound, HprofFile file) {
        HprofObject leaf = file.objects.values().stream().filter(object -> object.classId == type(file, "same.ManyFields$Leaf").id)
                .findFirst().get();
        file.layout(leaf.classId).offsets.forEach((field, offset) -> leaf.bytes[offset] ^= field.name.equals("value") ? 1 : 0);
        array(sound, file, HprofType.LONG).bytes[8 * 18 + 7] ^= 1;
        file.add(HprofObject.primitives(array(sound, file, HprofType.SHORT).id, HprofType.SHORT, new byte[2 * 18]));
        HprofObject chars = array(sound, file, HprofType.CHAR);
        file.add(HprofObject.primitives(chars.id, HprofType.SHORT, chars.bytes));
        file.repeated.clear();
        file.objects.remove(array(sound, file, HprofType.BYTE).id);

        file.addName(type(file, "same.ManyTexts$Link").id, "same.ManyTexts$Ring");
        HprofClass statics = type(file, "same.ManyFields$Statics");
        statics.statics.replaceAll(field -> field.name.equals("oddNan") ? new HprofField(field.name, field.type, 1) : field);
        HprofClass middle = type(file, "same.ManyFields$Middle");
        middle.loader = 0;
        middle.instanceSize++;
        type(file, "same.ManyFields$Constants").statics.removeIf(HprofField::isDeclared);

        HprofRoot local = file.roots.stream().filter(root -> root.kind == HprofRoot.Kind.JAVA_FRAME
                && file.typeOf(root.object).equals("same.ManyThreads$Local")).findFirst().get();
        file.roots.removeIf(local::equals);
        file.roots.add(new HprofRoot(local.kind, local.object, local.thread, local.frame + 1000));
        HprofFrame top = file.stacks.get(local.thread).get(0);
        file.stacks.get(local.thread).set(0, new HprofFrame(type(file, "java.lang.String").id, top.place));
        file.roots.removeIf(root -> root.kind == HprofRoot.Kind.STICKY_CLASS && root.object == type(file, "java.lang.String").id);
        file.roots.add(new HprofRoot(HprofRoot.Kind.JNI_GLOBAL, leaf.id, 0, -1));
        return new TreeSet<>(Arrays.asList("field", "element of an array", "length of an array", "class of an object",
                "reference to what ours does not have", "reachable object that only HotSpot's has", "name of a class", "static field",
                "loader of a class", "instance size", "static fields of a name", "root of kind JAVA_FRAME that only ours has",
                "root of kind JAVA_FRAME that only HotSpot's has", "stack", "root of kind STICKY_CLASS that only HotSpot's has",
                "root of kind JNI_GLOBAL that only ours has"));
    }

    private static HprofClass type(HprofFile file, String name) {
        return file.classes.values().stream().filter(type -> file.name(type.id).equals(name)).findFirst().get();
    }

    /** The subject's array of this type: reached, so that no rule takes it for garbage. */
    private static HprofObject array(HprofFile sound, HprofFile file, HprofType type) {
        Reachability reachability = new Reachability(sound);
        return sound.objects.values().stream().filter(object -> object.type == type && object.length() == 19)
                .filter(object -> reachability.reaches(object.id)).map(object -> file.objects.get(object.id)).findFirst().get();
    }
}
