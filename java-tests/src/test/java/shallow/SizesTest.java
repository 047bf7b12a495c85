package shallow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import harness.Beside;
import harness.Collector;
import harness.Command;
import harness.Folder;
import harness.Histogram;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Setup;
import harness.Tools;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** Sizes of objects are HotSpot's own, in every layout of objects that it has. */
class SizesTest {
    @TempDir Path folder;

    static List<Setup> layouts() {
        List<Setup> layouts = new ArrayList<>();
        for (Jdk jdk : Jdks.majors()) {
            layouts.add(Setup.of(jdk, Collector.SERIAL));
            layouts.add(Setup.of(jdk, Collector.PARALLEL, "-XX:-UseCompressedOops"));
            layouts.add(Setup.of(jdk, Collector.SERIAL, "-XX:ObjectAlignmentInBytes=16"));
            if (jdk.major < 25) {
                layouts.add(Setup.of(jdk, Collector.SERIAL, "-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers"));
            } else {
                layouts.add(Setup.of(jdk, Collector.SERIAL, "-XX:+UseCompactObjectHeaders"));
                layouts.add(Setup.of(jdk, Collector.SERIAL, "-XX:+UseCompactObjectHeaders", "-XX:-UseCompressedOops"));
            }
        }
        return layouts;
    }

    @ParameterizedTest
    @Beside
    @Rows("layouts")
    void areHotspotsOwn(Setup setup) throws IOException {
        try (Jvm jvm = setup.on(folder).agent("heap=dump,doe=n,file=" + folder.resolve("out.%n.hprof"))
                .run(Sized.class).ready()) {
            jvm.jcmd("GC.class_histogram", "-all").good();
            Map<String, Long> hotspots = eachOfJcmd(jvm);
            jvm.signal("QUIT");
            jvm.dumped(1);
            Path dump = new Folder(folder).await("out.1.hprof", Jvm.LIMIT);
            JsonObject answer = json(Command.run(Tools.command(), "histo", dump, "--json").good());
            assertEquals("jvm", answer.get("sizes").getAsString());
            assertEquals(Map.of(), unequal(hotspots, each(answer)), "hprof histo");
            JsonObject live = json(Command.run(Tools.command(), "histo", jvm.pid(), "--json", "--agent", Tools.agent()).good());
            assertEquals("jvm", live.get("sizes").getAsString());
            assertEquals(Map.of(), unequal(hotspots, each(live)), "hprof histo PID");
            JsonObject top = json(Command.run(Tools.command(), "histo", dump, "--retained", "--top", 0, "--json").good());
            assertEquals(Map.of(), unequal(hotspots, eachOfTop(top)), "hprof histo --retained");
            assertEquals(64, classObject(dump, "Statics") - classObject(dump, "Without"), "eight static fields");
            tellsWhatIsSecretToNobody(dump, jvm.pid());
        }
    }

    private static void tellsWhatIsSecretToNobody(Path dump, long pid) throws IOException {
        JsonObject told = json(Command.run(Tools.command(), "check", dump, "--json").good()).getAsJsonObject("jvm");
        assertEquals("" + pid, told.get("pid").getAsString());
        assertTrue(told.get("jvm").getAsString().contains("VM"), told::toString);
        assertTrue(told.has("collector") && told.has("host"), told::toString);
        Path redacted = dump.resolveSibling("redacted.hprof");
        Command.run(Tools.command(), "convert", dump, "-o", redacted, "--redact").good();
        JsonObject left = json(Command.run(Tools.command(), "check", redacted, "--json").good()).getAsJsonObject("jvm");
        assertFalse(left.has("pid") || left.has("host"), left::toString);
        assertEquals(told.get("jvm"), left.get("jvm"));
        String bytes = new String(Files.readAllBytes(redacted), StandardCharsets.ISO_8859_1);
        assertFalse(bytes.contains("=" + told.get("host").getAsString() + "\n"), "the host's name");
    }

    /** What each instance of a class takes, where all instances take the same; of arrays, what all take, if there are as many. */
    private static Map<String, Long> unequal(Map<String, Long> hotspots, Map<String, Long> ours) {
        assertTrue(ours.size() > 150, () -> "only " + ours.size() + " classes");
        for (String array : List.of("boolean[]", "double[]", "shallow.Sized$Lower[]")) {
            assertTrue(ours.containsKey(array + " x" + Sized.COUNT), () -> array + " is not among " + ours.keySet());
        }
        Map<String, Long> unequal = new TreeMap<>();
        ours.forEach((name, bytes) -> {
            if (hotspots.containsKey(name) && !hotspots.get(name).equals(bytes)) {
                unequal.put(name + " " + hotspots.get(name), bytes);
            }
        });
        return unequal;
    }

    private static void add(Map<String, Long> each, String name, long instances, long bytes) {
        if (name.equals("java.lang.Class") || instances == 0) {
            return;
        }
        if (!name.endsWith("[]")) {
            each.put(name, bytes / instances);
        } else if (name.startsWith("shallow.") || instances == Sized.COUNT) {
            each.put(name + " x" + instances, bytes);
        }
    }

    private static Map<String, Long> eachOfJcmd(Jvm jvm) {
        Map<String, Long> each = new TreeMap<>();
        for (String line : jvm.jcmd("GC.class_histogram", "-all").good().out.split("\n")) {
            String[] words = line.trim().split("\\s+");
            if (words.length >= 4 && words[0].matches("\\d+:")) {
                add(each, Histogram.named(words[3]), Long.parseLong(words[1]), Long.parseLong(words[2]));
            }
        }
        return each;
    }

    private static Map<String, Long> each(JsonObject histogram) {
        Map<String, Long> each = new TreeMap<>();
        for (JsonElement element : histogram.getAsJsonArray("classes")) {
            JsonObject row = element.getAsJsonObject();
            add(each, Histogram.named(row.get("class").getAsString()), row.get("objects").getAsLong(), row.get("bytes").getAsLong());
        }
        return each;
    }

    private static Map<String, Long> eachOfTop(JsonObject top) {
        Map<String, Long> each = new TreeMap<>();
        for (JsonElement element : top.getAsJsonArray("rows")) {
            JsonObject row = element.getAsJsonObject();
            add(each, Histogram.named(row.get("class").getAsString()), row.get("objects").getAsLong(), row.get("shallow").getAsLong());
        }
        return each;
    }

    private static long classObject(Path dump, String name) {
        JsonObject top = json(Command.run(Tools.command(), "histo", "--objects", dump, "--top", 0, "--json").good());
        for (JsonElement element : top.getAsJsonArray("objects")) {
            JsonObject row = element.getAsJsonObject();
            if (row.get("class").getAsString().equals("class shallow.Sized$" + name)) {
                return row.get("shallow").getAsLong();
            }
        }
        throw new AssertionError("no class object");
    }

    private static JsonObject json(Command command) {
        return JsonParser.parseString(command.out).getAsJsonObject();
    }
}
