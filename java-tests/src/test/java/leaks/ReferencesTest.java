package leaks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import harness.Command;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Tools;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** Soft, weak, phantom and finalizer references keep their objects alive, as in Eclipse MAT; by `--references strong` they do not. */
class ReferencesTest {
    /** Each class of a planted object, and that of the reference that holds it. */
    private static final Map<String, String> HOLDERS = Map.of(
            "leaks.Referred$Softly", "java.lang.ref.SoftReference",
            "leaks.Referred$Weakly", "java.lang.ref.WeakReference",
            "leaks.Referred$Phantomly", "java.lang.ref.PhantomReference",
            "leaks.Referred$ToBeFinalized", "java.lang.ref.Finalizer");

    /** An object and its array of a thousand bytes. */
    private static final long BYTES = 16 + 1_016;

    @TempDir Path folder;

    static List<Jdk> some() {
        return List.of(Jdks.of(8), Jdks.of(17), Jdks.of(25));
    }

    @ParameterizedTest
    @Rows("some")
    void holdByTheRuleOfAllAlone(Jdk jdk) {
        Path dump = folder.resolve("references.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).dumpTo(dump).run(Referred.class).ready()) {
            jvm.signal("QUIT");
            jvm.dumped(1);
            for (Object source : List.of(dump, jvm.pid())) {
                Map<String, Long> all = HOLDERS.keySet().stream().collect(Collectors.toMap(type -> type, type -> BYTES));
                assertEquals(all, retained(source, "all"));
                assertEquals(Map.of(), retained(source, "strong"));
                HOLDERS.forEach((type, holder) -> mustBeHeld(source, type, holder));
            }
        }
    }

    /** What the planted objects retain that are alive by one of the rules, one of each class. */
    private static Map<String, Long> retained(Object source, String rule) {
        Map<String, Long> retained = new HashMap<>();
        for (JsonElement element : ask("histo", source, "--retained", "--top", "0", "--references", rule).getAsJsonArray("rows")) {
            JsonObject row = element.getAsJsonObject();
            String type = row.get("class").getAsString();
            if (type.startsWith("leaks.Referred$")) {
                assertEquals(1, row.get("objects").getAsLong(), row::toString);
                retained.put(type, row.get("retained").getAsLong());
            }
        }
        return retained;
    }

    /** By this reference, on the shortest path that there is. */
    private static void mustBeHeld(Object source, String type, String holder) {
        JsonObject path = ask("show", source, type).getAsJsonObject("path");
        assertTrue(path.get("weak").getAsBoolean(), path::toString);
        List<JsonElement> objects = path.getAsJsonArray("objects").asList();
        JsonObject last = objects.get(objects.size() - 1).getAsJsonObject();
        JsonObject before = objects.get(objects.size() - 2).getAsJsonObject();
        assertEquals(holder, before.get("class").getAsString());
        assertTrue(last.get("link").getAsString().contains("referent"), last::toString);
    }

    private static JsonObject ask(String command, Object source, Object... more) {
        Object[] words = new Object[more.length + 6];
        System.arraycopy(new Object[] {Tools.command(), command, source, "--json", "--agent", Tools.agent()}, 0, words, 0, 6);
        System.arraycopy(more, 0, words, 6, more.length);
        return JsonParser.parseString(Command.run(words).good().out).getAsJsonObject();
    }
}
