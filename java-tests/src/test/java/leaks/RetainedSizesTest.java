package leaks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import agreement.Database;
import harness.Command;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.OnlyInTestAll;
import harness.RetainedSizes;
import harness.Rows;
import harness.SharkTree;
import harness.Tools;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** Retained sizes and dominators in the dump of a database are those of other tools, object by object, but for rules that differ. */
class RetainedSizesTest {
    private static final int OBJECTS = 100_000;

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

    /**
     * Shark has fewer references than we, so our dominators may be above its own, but never below or beside, and nearly all are
     * the same:
     *
     * - a string does not refer to its array, which is not in its tree;
     * - an array of boxed numbers refers to none of them;
     * - an object does not refer to its class, and a class only to what is in its static fields.
     *
     * Where Shark puts an object higher later on, it leaves what is below in its place, whose dominator is then too low.
     */
    @OnlyInTestAll("another judge of what graph/tests compare with the naive way")
    @ParameterizedTest
    @Rows("some")
    void dominatorsAreThoseOfShark(Jdk jdk) {
        Path dump = dump(jdk);
        SharkTree shark = new SharkTree(dump);
        int compared = 0;
        int same = 0;
        Map<String, String> wrong = new TreeMap<>();
        for (Map.Entry<Long, Long> ours : dominators(dump).entrySet()) {
            Long theirs = shark.dominators().get(ours.getKey());
            if (theirs != null) {
                compared++;
                same += theirs.equals(ours.getValue()) ? 1 : 0;
                if (!shark.isAbove(ours.getValue(), theirs)) {
                    wrong.put(Long.toHexString(ours.getKey()), Long.toHexString(ours.getValue()) + ", " + Long.toHexString(theirs));
                }
            }
        }
        assertEquals(Map.of(), wrong, "ours, theirs");
        assertTrue(compared > OBJECTS / 2, compared + " objects");
        assertTrue(same > 0.95 * compared, same + " of " + compared);
    }

    /** The dominator of each object that a root leads to. */
    private Map<Long, Long> dominators(Path dump) {
        Path tables = folder.resolve("tables");
        Command.run(Tools.command(), "convert", dump, "--to", "parquet", "-o", tables).good();
        String question = "SELECT o.id, coalesce(above.id, 0) FROM 'object.parquet' o LEFT JOIN 'object.parquet' above"
                + " ON above.n = o.dominator WHERE o.retained IS NOT NULL";
        return Tools.numbers(tables, question).stream().collect(Collectors.toMap(row -> row[0], row -> row[1]));
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

    /** For a database with its rows. */
    private Path dump(Jdk jdk) {
        Path dump = folder.resolve("database.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).dumpTo(dump).classPath(Tools.jar("h2-")).run(Database.class, "1").ready()) {
            jvm.signal("QUIT");
            jvm.dumped(1);
        }
        return dump;
    }
}
