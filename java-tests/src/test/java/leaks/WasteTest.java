package leaks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import harness.Command;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Testimony;
import harness.Tools;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** `hprof waste` finds what was planted, in strings of both layouts (characters up to 8, bytes since 9). */
class WasteTest {
    /** Sizes with compressed references and classes: a set, its map, the table of 16 places. */
    private static final long SET_BYTES = 16 + 48 + 80;

    /** A list with 20 places. */
    private static final long LIST_BYTES = 24 + 96;

    @TempDir Path folder;

    static List<Jdk> some() {
        return List.of(Jdks.of(8), Jdks.of(25));
    }

    @ParameterizedTest
    @Rows("some")
    void whatIsPlantedIsFound(Jdk jdk) {
        Path dump = folder.resolve("waste.hprof");
        long count;
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=dump,file=" + dump).run(Wasteful.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            count = Long.parseLong(Testimony.of(jvm).all("COUNT").get(0)[1]);
        }
        Command hidden = Command.run(Tools.command(), "waste", "--json", "--top", "0", dump).good();
        assertFalse(hidden.out.contains("planted-text"), "a text of the heap, unasked");
        JsonObject waste = JsonParser.parseString(hidden.out).getAsJsonObject();
        JsonArray strings = waste.getAsJsonObject("strings").getAsJsonArray("groups");
        long textBytes = 24 + (jdk.major < 9 ? 40 : 32);
        JsonObject texts = row(strings, "objects", count, "length", 12L);
        assertEquals((count - 1) * textBytes, texts.get("lost_bytes").getAsLong(), "bytes of equal strings");
        JsonArray arrays = waste.getAsJsonObject("arrays").getAsJsonArray("groups");
        JsonObject codes = row(arrays, "objects", count, "class", "int[]");
        assertEquals((count - 1) * 40, codes.get("lost_bytes").getAsLong(), "bytes of equal arrays");

        JsonArray collections = waste.getAsJsonArray("collections");
        assertEquals(count * LIST_BYTES, lost(collections, "orders", "empty", count));
        assertEquals(count * SET_BYTES, lost(collections, "roles", "one element", count));
        assertEquals(count * (1024 - 2) * 4, lost(collections, "settings", "sparse", count));
        JsonObject numbers = row(waste.getAsJsonArray("boxed"), "held_by", "leaks.Wasteful$Customer#number", "objects", count);
        assertEquals(24 * count, numbers.get("bytes").getAsLong(), "bytes of boxed numbers");

        String shown = Command.run(Tools.command(), "waste", "--strings", dump).good().out;
        assertTrue(shown.contains("\"planted-text\""), shown);
    }

    private static long lost(JsonArray rows, String field, String fault, long count) {
        JsonObject row = row(rows, "held_by", "leaks.Wasteful$Customer#" + field, "fault", fault);
        assertEquals(count, row.get("objects").getAsLong(), field);
        return row.get("lost_bytes").getAsLong();
    }

    /** The row that has these two values. */
    private static JsonObject row(JsonArray rows, String name, Object value, String other, Object otherValue) {
        for (JsonElement element : rows) {
            JsonObject row = element.getAsJsonObject();
            if (row.get(name).getAsString().equals(value.toString()) && row.get(other).getAsString().equals(otherValue.toString())) {
                return row;
            }
        }
        throw new AssertionError("no row with " + name + " " + value + " and " + other + " " + otherValue + " in " + rows);
    }
}
