package big;

import static org.junit.jupiter.api.Assertions.assertEquals;

import harness.Collector;
import harness.Folder;
import harness.HprofCheck;
import harness.InTurn;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.NetBeansReader;
import harness.Rows;
import harness.SlurpReader;
import harness.Testimony;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.netbeans.lib.profiler.heap.PrimitiveArrayInstance;

/** Objects that are huge, or deep. */
class BigTest {
    @TempDir Path folder;

    static List<Jdk> oldAndNew() {
        return List.of(Jdks.of(11), Jdks.of(25));
    }

    @InTurn("the package snapshot has large arrays")
    @ParameterizedTest
    @Rows("oldAndNew")
    void arraysOfHundredsOfMegabytes(Jdk jdk) {
        try (Jvm jvm = Jvm.on(jdk, folder).with(Collector.PARALLEL).switches("-Xmx1g")
                .agent("heap=dump,doe=n,file=" + folder.resolve("out.hprof")).run(Arrays.class).ready()) {
            jvm.signal("QUIT");
            Path dump = new Folder(folder).await("out.hprof", Jvm.LIMIT);
            assertEquals(0, jvm.end(), jvm.err::text);
            new HprofCheck(dump).good();
            Testimony.of(jvm).counts("hprof-slurp", new SlurpReader(dump).histogram());
            try (NetBeansReader reader = new NetBeansReader(dump)) {
                Testimony.of(jvm).counts(reader.name(), reader.histogram());
                assertEquals("314572800 1 2", ends(reader, "BYTES"));
                assertEquals("40000000 " + Long.MIN_VALUE + " " + Long.MAX_VALUE, ends(reader, "LONGS"));
            }
        }
    }

    /** The length, the first and the last element. */
    private static String ends(NetBeansReader reader, String field) {
        Object found = reader.heap().getJavaClassByName("big.Arrays").getValueOfStaticField(field);
        PrimitiveArrayInstance array = (PrimitiveArrayInstance) found;
        List<?> values = array.getValues();
        return array.getLength() + " " + values.get(0) + " " + values.get(values.size() - 1);
    }

    @InTurn("the package graph has such a list")
    @ParameterizedTest
    @Rows("harness.Jdks#majors")
    void aListOfMillions(Jdk jdk) {
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-Xmx600m").dumpTo(folder.resolve("out.hprof")).run(Chain.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            new HprofCheck(folder.resolve("out.hprof")).good();
            Testimony.of(jvm).counts("hprof-slurp", new SlurpReader(folder.resolve("out.hprof")).histogram());
        }
    }
}
