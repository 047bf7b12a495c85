package same;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Attach;
import harness.Collector;
import harness.Engine;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Setup;
import harness.Tools;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** Dumps of programs whose objects ZGC moves all the time, or that write all the time: each is of one moment. */
class ZgcTest {
    private static final int DUMPS = 3;

    @TempDir Path folder;

    /** Every kind of coloured pointers. */
    static List<Setup> setups() {
        List<Setup> setups = new ArrayList<>();
        for (Jdk jdk : Jdks.majors()) {
            if (jdk.major >= 17 && jdk.collectors().contains(Collector.ZGC)) {
                setups.add(Setup.of(jdk, Collector.ZGC, "-Xmx256m"));
            }
            if (jdk.major == 21) {
                setups.add(Setup.of(jdk, Collector.ZGC, "-Xmx256m", "-XX:+ZGenerational"));
            }
        }
        return setups;
    }

    @ParameterizedTest
    @Rows("setups")
    void everyReferenceLeadsToItsObject(Setup setup) throws Exception {
        try (Jvm jvm = setup.on(folder).run(Twins.class).ready()) {
            int copies = 0;
            for (int number = 1; copies < DUMPS; number++) {
                Path file = folder.resolve(number + ".hprof");
                String line = Attach.dump(jvm, number, "file=" + file);
                copies += Engine.isSnapshot(line) ? 1 : 0;
                assertTrue(Engine.isSnapshot(line) || Engine.wasMoving(line) && number < 3 * DUMPS, line);
                jvm.standStill();
                new HprofCheck(file).good();
                mustHaveAllCells(HprofFile.read(file));
                Files.delete(file);
                jvm.goOn();
            }
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /** The kernel tells a write once: to one of two libraries, if both ask. */
    @Test
    void dumpsOfTwoLibrariesAreOfOneMomentEach() throws Exception {
        Path other = Files.copy(Tools.agent(), folder.resolve("libother.so"));
        String options = "=heap=dump,doe=n,copy=image,file=";
        Setup setup = Setup.of(Jdks.of(25), Collector.ZGC, "-Xmx256m", "-agentpath:" + other + options + "other.hprof",
                "-agentpath:" + Tools.agent() + options + "own.hprof");
        try (Jvm jvm = setup.on(folder).run(Counting.class).ready()) {
            jvm.signal("QUIT");
            for (String name : List.of("other.hprof", "own.hprof")) {
                jvm.err.await(1, "word of " + name, line -> line.contains("dumped ") && line.contains(name), Jvm.LIMIT);
                mustBeOfOneMoment(HprofFile.read(folder.resolve(name)));
            }
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    @ParameterizedTest
    @Rows("setups")
    void anApplicationThatNeverRestsGetsAnImage(Setup setup) throws Exception {
        try (Jvm jvm = setup.on(folder).run(Twins.class, "busy").ready()) {
            for (int number = 1; number <= DUMPS; number++) {
                Path file = folder.resolve(number + ".hprof");
                String line = Attach.dump(jvm, number, "copy=image,file=" + file);
                assertTrue(Engine.isSnapshot(line) && line.contains("of an image of"), () -> line + jvm.err.text());
                jvm.standStill();
                mustHaveAllCells(HprofFile.read(file));
                Files.delete(file);
                jvm.goOn();
            }
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    private static void mustBeOfOneMoment(HprofFile dump) {
        HprofObject counter = dump.objects.values().stream()
                .filter(object -> object.kind == HprofObject.Kind.INSTANCE && dump.name(object.classId).equals("same.Counting$Counter"))
                .findFirst().orElseThrow(() -> new AssertionError("no counter"));
        long count = dump.field(counter.id, "same.Counting$Counter", "count");
        HprofObject places = dump.objects.get(dump.field(counter.id, "same.Counting$Counter", "places"));
        for (int place = 0; place < places.length(); place++) {
            long last = count - Math.floorMod(count - place, (long) places.length());
            long number = places.element(place);
            // The next number may be written, and not yet counted.
            assertTrue(number == last || number == count + 1, number + " in place of " + last + ", after " + count);
        }
    }

    private static void mustHaveAllCells(HprofFile dump) {
        HprofObject all = dump.objects.values().stream()
                .filter(object -> object.kind == HprofObject.Kind.OBJECT_ARRAY && dump.name(object.classId).equals("[Lsame.Twins$Cell;"))
                .max((one, other) -> one.length() - other.length()).orElseThrow(() -> new AssertionError("no array of cells"));
        assertEquals(Twins.CELLS, all.length());
        for (int number = 0; number < Twins.CELLS; number++) {
            mustBeCell(dump, all.element(number), number);
        }
    }

    private static void mustBeCell(HprofFile dump, long id, int number) {
        HprofObject cell = dump.objects.get(id);
        assertEquals("same.Twins$Cell", cell == null ? "nothing" : dump.name(cell.classId), "element " + number);
        assertEquals(number, field(dump, id, "number"));
        long load = field(dump, id, "load");
        assertEquals(List.of((byte) number, (byte) (number >> 8)), bytes(dump.objects.get(load)), "load of " + number);
        HprofObject self = dump.objects.get(field(dump, id, "self"));
        assertEquals(List.of(id, load), List.of(self.element(0), self.element(1)), "array of " + number);
        long twin = field(dump, id, "twin");
        assertEquals(number ^ 1, field(dump, twin, "number"), "twin of " + number);
        assertEquals(id, field(dump, twin, "twin"), "twin of the twin of " + number);
    }

    private static long field(HprofFile dump, long id, String name) {
        Long value = dump.field(id, "same.Twins$Cell", name);
        return value == null ? 0 : value;
    }

    private static List<Byte> bytes(HprofObject array) {
        List<Byte> bytes = new ArrayList<>();
        for (byte element : array.bytes) {
            bytes.add(element);
        }
        return bytes;
    }
}
