package same;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Attach;
import harness.HprofCheck;
import harness.InTurn;
import harness.Jdks;
import harness.Jvm;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where values are not wanted zeros stand in their place: the file has no secret, and every size is right. */
class LeftOutTest {
    @TempDir Path folder;

    @InTurn("the package redact has the same")
    @Test
    void zerosHaveTheSameSize() throws Exception {
        Path whole = folder.resolve("whole.hprof");
        Path zeros = folder.resolve("zeros.hprof");
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).switches("-Xmx512m").run(Quiet.class).ready()) {
            Attach.dump(jvm, 1, "stop=n,file=" + whole);
            Attach.dump(jvm, 2, "stop=n,primarrays=n,primfields=n,file=" + zeros);
            SameAsHotSpotTest.mustHaveBeenQuiet(jvm);
        }
        new HprofCheck(zeros).good();
        HprofFile file = HprofFile.read(zeros);
        assertEquals(sizes(HprofFile.read(whole)), sizes(file));
        file.objects.values().forEach(object -> assertTrue(hasNoValue(file, object), () -> file.text(object.id)));
    }

    /** How many objects there are of each type and size, dead ones not counted. */
    private static Map<String, Integer> sizes(HprofFile file) {
        Map<String, Integer> sizes = new TreeMap<>();
        Reachability reachability = new Reachability(file);
        file.objects.values().stream().filter(object -> reachability.reaches(object.id))
                .forEach(object -> sizes.merge(file.typeOf(object.id) + " " + object.bytes.length, 1, Integer::sum));
        return sizes;
    }

    /** Whether it holds references and zeros only. */
    private static boolean hasNoValue(HprofFile file, HprofObject object) {
        switch (object.kind) {
            case PRIMITIVE_ARRAY: return IntStream.range(0, object.bytes.length).allMatch(i -> object.bytes[i] == 0);
            case INSTANCE: return file.layout(object.classId).offsets.entrySet().stream()
                    .allMatch(field -> field.getKey().type == HprofType.OBJECT
                            || field.getKey().type.read(object.bytes, field.getValue()) == 0);
            default: return true;
        }
    }
}
