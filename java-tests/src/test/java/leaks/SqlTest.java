package leaks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import harness.Command;
import harness.Jdks;
import harness.Jvm;
import harness.Tools;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The questions of docs/sql.md over the dumps of three JVMs as one table: the answers are what the programs planted. */
class SqlTest {
    /** A dump: its name, the JVM, how many sessions the program has, and bytes of a session's text. */
    private static final Object[][] DUMPS = {
        {"shop-1@2026-11-20", 8, 300, 24 + 32},
        {"shop-2@2026-11-20", 25, 500, 24 + 24},
        {"shop-1@2026-11-27", 17, 3_000, 24 + 24},
    };

    private static final String LAST = "shop-1@2026-11-27";
    private static final int GROWTH = 3_000 - 500 - 300;

    /** Bytes of a session alone (a header and three references), and of its array of a thousand bytes. */
    private static final int SESSION_BYTES = 24;
    private static final int DATA_BYTES = 1_016;

    /** Bytes of an array of 10,000 longs. */
    private static final int LONGS_BYTES = 80_016;

    @TempDir Path folder;

    @Test
    void theQuestionsAreAnswered() {
        Path exports = folder.resolve("exports");
        for (Object[] dump : DUMPS) {
            export(dump, exports);
        }
        // make sql-test asks Spark, too, which is slow.
        String engine = System.getProperty("sql", "duckdb");
        JsonObject answers = Tools.questions(engine, exports);
        assertEquals(9, answers.size());

        assertEquals(3, rows(answers, "overview").count());
        assertEquals((long) GROWTH * SESSION_BYTES, row(answers, "growth", "name", "leaks.Shop$Session").get("growth").getAsLong());
        for (Object[] dump : DUMPS) {
            mustHold(answers, (String) dump[0], (int) dump[2], SESSION_BYTES + DATA_BYTES + (int) dump[3]);
        }
        JsonObject texts = row(answers, "duplicates", "service", "shop");
        assertTrue(texts.get("lost_characters").getAsLong() >= 7 * (3_800 - 3), texts::toString);
        JsonObject largest = rows(answers, "largest").findFirst().orElseThrow();
        assertEquals(LAST, largest.get("dump").getAsString());
        assertTrue(largest.get("name").getAsString().startsWith("class "), largest::toString);
        assertTrue(largest.get("id").getAsString().startsWith("0x"), largest::toString);
        assertTrue(largest.get("retained").getAsLong() >= 3_000 * (SESSION_BYTES + DATA_BYTES + 48), largest::toString);
    }

    /** What the program of one dump planted. */
    private static void mustHold(JsonObject answers, String dump, int sessions, int sessionBytes) {
        JsonObject holders = row(answers, "holders", "dump", dump);
        assertEquals("java.lang.Object[]", holders.get("holder").getAsString());
        assertEquals(sessions, holders.get("sessions").getAsInt());
        JsonObject owner = row(answers, "dominators", "dump", dump);
        assertEquals("java.lang.Object[]", owner.get("owner").getAsString());
        assertEquals((long) sessions * sessionBytes, owner.get("bytes").getAsLong(), dump);
        JsonObject local = row(answers, "locals", "dump", dump, "method", "serve");
        assertEquals("long[]", local.get("holds").getAsString());
        assertEquals(LONGS_BYTES, local.get("retained").getAsInt());
        JsonObject site = row(answers, "sites", "dump", dump, "class", "leaks.Shop$Session");
        assertEquals(Tools.line("leaks/Shop.java", "the line that makes sessions"), site.get("line").getAsInt());
        assertEquals((long) sessions * sessionBytes, site.get("retained").getAsDouble());
        JsonObject unset = row(answers, "unset", "dump", dump, "field", "never");
        assertEquals(sessions, unset.get("instances").getAsInt());
    }

    /** Dumps a JVM while its program stands where it holds the array, and exports that. */
    private void export(Object[] facts, Path exports) {
        Path dump = folder.resolve(facts[0] + ".hprof");
        try (Jvm jvm = Jvm.on(Jdks.of((int) facts[1]), folder).agent("heap=all,sampling=0,file=" + dump)
                .run(Shop.class, "" + facts[2]).ready()) {
            jvm.signal("QUIT");
            assertNotNull(jvm.dumped(1));
        }
        Path to = exports.resolve("" + facts[0]);
        try {
            Files.createDirectories(exports);
            Command.run(Tools.command(), "convert", dump, "--to", "parquet", "-o", to).good();
            try (Stream<Path> files = Files.list(to)) {
                List<Long> sizes = files.map(SqlTest::size).collect(Collectors.toList());
                assertEquals(10, sizes.size());
                long bytes = sizes.stream().mapToLong(Long::longValue).sum();
                assertTrue(bytes * 100 <= Files.size(dump) * 15, bytes + " bytes of " + Files.size(dump));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long size(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Stream<JsonObject> rows(JsonObject answers, String question) {
        return StreamSupport.stream(answers.getAsJsonArray(question).spliterator(), false).map(JsonElement::getAsJsonObject);
    }

    /** The first row with these values: name, value, and so on. */
    private static JsonObject row(JsonObject answers, String question, String... facts) {
        return rows(answers, question).filter(row -> {
            for (int i = 0; i < facts.length; i += 2) {
                JsonElement value = row.get(facts[i]);
                if (value.isJsonNull() || !value.getAsString().equals(facts[i + 1])) {
                    return false;
                }
            }
            return true;
        }).findFirst().orElseThrow(() -> new AssertionError(question + " has no row with " + List.of(facts) + ": "
                + answers.get(question)));
    }
}
