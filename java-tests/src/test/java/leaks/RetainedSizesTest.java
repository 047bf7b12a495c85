package leaks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import agreement.Database;
import harness.Command;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.SharkTree;
import harness.Tools;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Dominators in the dump of a database are those that LeakCanary's Shark computes, object by object. It has fewer references
 * than we, so ours may be above its own, but never below or beside, and for nearly all objects they are the same:
 *
 * - a string does not refer to its array, which is not in its tree;
 * - an array of boxed numbers refers to none of them;
 * - an object does not refer to its class, and a class only to what is in its static fields.
 *
 * Where Shark puts an object higher later on, it leaves what is below in its place, whose dominator is then too low.
 */
class RetainedSizesTest {
    private static final int OBJECTS = 100_000;

    @TempDir Path folder;

    static List<Jdk> some() {
        return List.of(Jdks.of(17), Jdks.of(25));
    }

    @ParameterizedTest
    @MethodSource("some")
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
        Command.run(Tools.command(), "export", dump, "-o", tables).good();
        String question = "SELECT o.id, coalesce(above.id, 0) FROM 'object.parquet' o LEFT JOIN 'object.parquet' above"
                + " ON above.n = o.dominator WHERE o.retained IS NOT NULL";
        return Tools.numbers(tables, question).stream().collect(Collectors.toMap(row -> row[0], row -> row[1]));
    }

    /** Of a database with its rows. */
    private Path dump(Jdk jdk) {
        Path dump = folder.resolve("database.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).dumpTo(dump).classPath(Tools.jar("h2-")).run(Database.class, "1").ready()) {
            jvm.signal("QUIT");
            jvm.dumped(1);
        }
        return dump;
    }
}
