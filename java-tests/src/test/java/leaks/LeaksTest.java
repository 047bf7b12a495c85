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
import harness.NetBeansReader;
import harness.Tools;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Planted leaks come first in what `hprof leaks` says, with who holds them and the line that allocated them. */
class LeaksTest {
    /** What the sentence must say of each leak's holder. */
    private static final List<String[]> LEAKS = List.of(
            new String[] {"static", "the static field CACHE of class leaks.Leaks"},
            new String[] {"local", "thread \"worker\""},
            new String[] {"loader", "thread \"plugin-runner\""},
            new String[] {"listeners", "the static field BUS of class leaks.Leaks"});

    /** A session's array: header, a thousand bytes, rounded up. */
    private static final long LEAST_BYTES = Leaks.SESSIONS * 1_016L;

    /** Of a node and a boxed number for each session, but for the numbers from 0 to 127. */
    private static final long NOT_ROUNDED_BYTES = 4L * (Leaks.SESSIONS + Leaks.SESSIONS - 128);

    @TempDir Path folder;

    static Stream<Arguments> leaksOfAll() {
        return Jdks.majors().stream().flatMap(jdk -> LEAKS.stream().map(leak -> Arguments.of(jdk, leak[0], leak[1])));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("leaksOfAll")
    void theLeakIsFirst(Jdk jdk, String leak, String holder) {
        Path dump = folder.resolve("leak.hprof");
        Command live;
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=all,sampling=0,file=" + dump).run(Leaks.class, leak).ready()) {
            live = Command.run(Tools.command(), "leaks", jvm.pid(), "--json", "--agent", Tools.agent()).good();
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        assertTrue(live.err.contains("sent the graph of the heap: "), live::toString);
        assertTrue(JsonParser.parseString(live.out).getAsJsonObject().get("pause_ms").getAsLong() < 10_000, live::toString);
        mustNameTheLeak(live.out, holder);
        String json = Command.run(Tools.command(), "leaks", dump, "--json").good().out;
        mustNameTheLeak(json, holder);
        mustRetainMost(dump);
        // The text says the same first.
        String sentence = JsonParser.parseString(json).getAsJsonObject().get("sentence").getAsString();
        assertEquals(sentence, Command.run(Tools.command(), "leaks", dump).good().out.split("\n")[0]);
    }

    /** The same from a file and from the JVM that runs. */
    private static void mustNameTheLeak(String json, String holder) {
        JsonObject answer = JsonParser.parseString(json).getAsJsonObject();
        JsonObject first = answer.getAsJsonArray("suspects").get(0).getAsJsonObject();
        String sentence = answer.get("sentence").getAsString();
        assertEquals(sentence, first.get("sentence").getAsString());
        assertTrue(sentence.contains("held by " + holder), sentence);
        assertTrue(sentence.contains("allocated at leaks.Leaks$Session.<init>(Leaks.java:" + line() + ")"), sentence);
        assertTrue(first.get("retained").getAsLong() >= LEAST_BYTES, sentence);
        JsonElement most = first.getAsJsonArray("holds").get(0).getAsJsonObject().get("class");
        assertEquals("byte[]", most.getAsString());
        assertTrue(first.getAsJsonObject("path").getAsJsonArray("objects").size() > 1, json);
    }

    static List<Jdk> some() {
        return List.of(Jdks.of(11), Jdks.of(25));
    }

    /**
     * NetBeans' library takes references to be wide, and rounds no size up: the map's nodes and the integers that are not
     * the JDK's own lack four bytes each. Else the two agree, object by object.
     */
    @ParameterizedTest
    @MethodSource("some")
    void retainedSizesAreThoseOfNetBeans(Jdk jdk) {
        Path dump = folder.resolve("leak.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-XX:-UseCompressedOops").agent("heap=dump,file=" + dump)
                .run(Leaks.class, "static").ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        NetBeansReader judge = new NetBeansReader(dump);
        String json = Command.run(Tools.command(), "top", "--json", "--top", "0", "--sizes", "mat", dump).good().out;
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

    /** The line that makes sessions or what holds them keeps all of them; all is counted, so there is no error. */
    private static void mustRetainMost(Path dump) {
        String json = Command.run(Tools.command(), "top", "--by", "site", "--json", dump).good().out;
        JsonArray rows = JsonParser.parseString(json).getAsJsonObject().getAsJsonArray("rows");
        JsonObject row = rows.asList().stream().map(JsonElement::getAsJsonObject)
                .filter(any -> any.get("class").getAsString().equals("leaks.Leaks$Session")).findFirst().orElseThrow();
        String frame = row.getAsJsonArray("frames").get(0).getAsJsonObject().get("class").getAsString();
        assertTrue(frame.startsWith("leaks.Leaks"), frame);
        assertTrue(row.get("retained").getAsLong() >= LEAST_BYTES, row::toString);
        assertEquals(Leaks.SESSIONS, row.get("objects").getAsLong());
        assertEquals(0, row.get("error").getAsLong());
    }

    private static int line() {
        return Tools.line("leaks/Leaks.java", "the line that the answer must name");
    }
}
