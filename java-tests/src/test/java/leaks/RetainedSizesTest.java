package leaks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import harness.Command;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.NetBeansReader;
import harness.RetainedSizes;
import harness.Rows;
import harness.Tools;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import same.WebServer;

/** Retained sizes are those of other tools, object by object. */
class RetainedSizesTest {
    private static final int OBJECTS = 100_000;

    /** A session's array: header, a thousand bytes, rounded up. */
    private static final long LEAST_BYTES = Leaks.SESSIONS * 1_016L;

    /** Of a node and a boxed number for each session, but for the numbers from 0 to 127. */
    private static final long NOT_ROUNDED_BYTES = 4L * (Leaks.SESSIONS + Leaks.SESSIONS - 128);

    @TempDir Path folder;

    static List<Jdk> some() {
        return List.of(Jdks.of(17), Jdks.of(25));
    }

    /** By Eclipse MAT's rules (`--sizes mat`). With the JVM's own sizes, the comparison must see what differs. */
    @ParameterizedTest
    @Rows("some")
    @EnabledIfSystemProperty(named = "peers", matches = "all", disabledReason = "make peers-test builds hprof-analyzer")
    void areThoseOfHprofAnalyzer(Jdk jdk) {
        Path dump = dump(jdk);
        Map<Long, Long> sizes = RetainedSizes.ours(dump, "--sizes", "mat");
        assertTrue(sizes.size() > OBJECTS, sizes.size() + " objects");
        Map<Long, Long> theirs = RetainedSizes.ofHprofAnalyzer(dump);
        assertEquals(Map.of(), differences(sizes, theirs), "ours, theirs");
        assertTrue(!differences(RetainedSizes.ours(dump), theirs).isEmpty(), "the JVM's own sizes are others");
    }

    static List<Jdk> oldAndNew() {
        return List.of(Jdks.of(11), Jdks.of(25));
    }

    /**
     * NetBeans' library takes references to be wide, and rounds no size up: the map's nodes and the integers that are not
     * the JDK's own lack four bytes each. Else the two agree, object by object.
     */
    @ParameterizedTest
    @Rows("oldAndNew")
    void retainedSizesAreThoseOfNetBeans(Jdk jdk) {
        Path dump = folder.resolve("leak.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-XX:-UseCompressedOops").agent("heap=dump,file=" + dump)
                .run(Leaks.class, "static").ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        NetBeansReader judge = new NetBeansReader(dump);
        String json = Command.run(Tools.command(), "histo", "--objects", "--json", "--top", "0", "--sizes", "mat", dump).good().out;
        JsonArray objects = JsonParser.parseString(json).getAsJsonObject().getAsJsonArray("objects");
        int compared = 0;
        for (JsonElement element : objects) {
            JsonObject object = element.getAsJsonObject();
            String type = object.get("class").getAsString();
            long retained = object.get("retained").getAsLong();
            boolean isOfMap = type.startsWith("java.util.HashMap") && retained >= LEAST_BYTES;
            if (type.equals("leaks.Leaks$Session") || isOfMap) {
                long told = judge.retainedBytes(Long.decode(object.get("id").getAsString()));
                assertEquals(told + (isOfMap ? NOT_ROUNDED_BYTES : 0), retained, type);
                compared++;
            }
        }
        // The map and its table, too.
        assertEquals(Leaks.SESSIONS + 2, compared);
    }

    /** Both sizes of each object for which they are not equal. */
    private static Map<String, List<Long>> differences(Map<Long, Long> some, Map<Long, Long> others) {
        Map<String, List<Long>> differences = new TreeMap<>();
        for (Map<Long, Long> all : List.of(some, others)) {
            for (long id : all.keySet()) {
                List<Long> both = List.of(some.getOrDefault(id, -1L), others.getOrDefault(id, -1L));
                if (!both.get(0).equals(both.get(1))) {
                    differences.put("0x" + Long.toHexString(id), both);
                }
            }
        }
        return differences;
    }

    /** Of a web server: a hundred thousand objects and more. */
    private Path dump(Jdk jdk) {
        Path dump = folder.resolve("server.hprof");
        Launch launch = Jvm.on(jdk, folder).dumpTo(dump);
        Tools.jars().forEach(launch::classPath);
        try (Jvm jvm = launch.run(WebServer.class).ready()) {
            jvm.signal("QUIT");
            jvm.dumped(1);
        }
        return dump;
    }
}
