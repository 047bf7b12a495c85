package leaks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import harness.Command;
import harness.InTurn;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.NetBeansReader;
import harness.Rows;
import harness.Tools;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Planted leaks come first in the answer of `hprof leaks` and on the page of `hprof report`, with who holds them and the line
 * that allocated them.
 */
class LeaksTest {
    /** What the sentence must name as each leak's holder. */
    private static final List<String[]> LEAKS = List.of(
            new String[] {"static", "the static field CACHE of class leaks.Leaks"},
            new String[] {"local", "thread \"worker\""},
            new String[] {"loader", "thread \"plugin-runner\""},
            new String[] {"listeners", "the static field BUS of class leaks.Leaks"});

    private static final String FRAME = "leaks.Leaks$Session.<init>(Leaks.java:";

    /** A session's array: header, a thousand bytes, rounded up. */
    private static final long LEAST_BYTES = Leaks.SESSIONS * 1_016L;

    /** Of a node and a boxed number for each session, but for the numbers from 0 to 127. */
    private static final long NOT_ROUNDED_BYTES = 4L * (Leaks.SESSIONS + Leaks.SESSIONS - 128);

    @TempDir Path folder;

    /** From the running JVM and from its dump, in JSON, as text and on the page. */
    @InTurn("PlantedTest")
    @ParameterizedTest
    @Rows("harness.Jdks#majors")
    void theLeakIsFirst(Jdk jdk) {
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=all,sampling=0,doe=n,file=leak.%n.hprof")
                .run(Leaks.class, LEAKS.get(0)[0])) {
            for (int number = 1; number <= LEAKS.size(); number++) {
                jvm.out.await(number, "word of the leak", "READY"::equals, Jvm.LIMIT);
                String holder = LEAKS.get(number - 1)[1];
                Command live = ask("leaks", jvm.pid(), "--json", "--agent", Tools.agent());
                assertTrue(live.err.matches("asked JVM " + jvm.pid() + ", paused \\d+ ms\n"), live::toString);
                JsonObject json = JsonParser.parseString(live.out).getAsJsonObject();
                assertTrue(json.get("pause_ms").getAsLong() < 10_000, live::toString);
                mustBeFirst(json, holder);
                mustBeFirst(ask("leaks", jvm.pid(), "--agent", Tools.agent()).out, holder);
                mustBeFirstOnThePage(jvm.pid(), holder);
                jvm.signal("QUIT");
                jvm.dumped(number);
                mustBeFirstIn(folder.resolve("leak." + number + ".hprof"), holder);
                jvm.say(number < LEAKS.size() ? LEAKS.get(number)[0] : "exit");
            }
            assertEquals(0, jvm.exit(), jvm.err::text);
        }
    }

    private void mustBeFirstIn(Path dump, String holder) {
        JsonObject json = JsonParser.parseString(ask("leaks", dump, "--json").out).getAsJsonObject();
        mustBeFirst(json, holder);
        String text = ask("leaks", dump).out;
        mustBeFirst(text, holder);
        String page = mustBeFirstOnThePage(dump, holder);
        String sentence = json.get("sentence").getAsString();
        assertEquals(List.of(sentence, sentence), List.of(text.split("\n")[0], page));
        mustRetainMost(dump);
    }

    private static void mustBeFirst(JsonObject answer, String holder) {
        JsonObject first = answer.getAsJsonArray("suspects").get(0).getAsJsonObject();
        String sentence = answer.get("sentence").getAsString();
        assertEquals(sentence, first.get("sentence").getAsString());
        mustNameTheLeak(sentence, holder);
        assertTrue(first.get("retained").getAsLong() >= LEAST_BYTES, sentence);
        JsonElement most = first.getAsJsonArray("holds").get(0).getAsJsonObject().get("class");
        assertEquals("byte[]", most.getAsString());
        assertTrue(first.getAsJsonObject("path").getAsJsonArray("objects").size() > 1, answer::toString);
        JsonObject stack = first.getAsJsonArray("allocated").get(0).getAsJsonObject();
        JsonObject top = stack.getAsJsonArray("frames").get(0).getAsJsonObject();
        assertEquals("leaks.Leaks$Session " + line(), top.get("class").getAsString() + " " + top.get("line"));
        assertEquals("byte[]", stack.get("class").getAsString());
    }

    /** The sentence, and below it the path and the stack of the same suspect. */
    private static void mustBeFirst(String text, String holder) {
        mustNameTheLeak(text.split("\n")[0], holder);
        String first = text.split("\n\n")[1];
        assertTrue(first.startsWith("  path from a root (") || first.startsWith("  path from the main class:"), text);
        assertTrue(first.contains("\n  allocated, by "), text);
        assertTrue(first.contains(" byte[]\n    at " + FRAME + line() + ")\n"), text);
    }

    /** Gives the sentence of the page of a dump or a process. */
    private String mustBeFirstOnThePage(Object source, String holder) {
        Path file = folder.resolve("page.html");
        ask("report", source, "-o", file, "--agent", Tools.agent());
        JsonObject page = Tools.pageData(file);
        JsonObject first = Tools.pageAnswers(page).getAsJsonArray("suspects").get(0).getAsJsonObject();
        String sentence = page.get("sentence").getAsString();
        assertEquals(sentence, first.get("sentence").getAsString());
        mustNameTheLeak(sentence, holder);
        assertTrue(first.get("retained").getAsLong() >= LEAST_BYTES, sentence);
        JsonObject path = first.getAsJsonObject("path");
        assertTrue(path.getAsJsonArray("objects").size() > 1, path::toString);
        JsonObject stack = first.getAsJsonArray("allocated").get(0).getAsJsonObject();
        assertEquals("byte[]", stack.get("class").getAsString());
        JsonObject frame = stack.getAsJsonArray("frames").get(0).getAsJsonObject();
        String method = frame.get("class").getAsString() + "." + frame.get("method").getAsString();
        String place = frame.get("source").getAsString() + ":" + frame.get("line").getAsInt();
        assertEquals(FRAME + line() + ")", method + "(" + place + ")");
        return sentence;
    }

    private static void mustNameTheLeak(String sentence, String holder) {
        assertTrue(sentence.contains("held by " + holder), sentence);
        assertTrue(sentence.contains("allocated at " + FRAME + line() + ")"), sentence);
    }

    private static Command ask(Object... words) {
        Object[] all = new Object[words.length + 1];
        all[0] = Tools.command();
        System.arraycopy(words, 0, all, 1, words.length);
        return Command.run(all).good();
    }

    static List<Jdk> some() {
        return List.of(Jdks.of(11), Jdks.of(25));
    }

    /**
     * NetBeans' library takes references to be wide, and rounds no size up: the map's nodes and the integers that are not
     * the JDK's own lack four bytes each. Else the two agree, object by object.
     */
    @ParameterizedTest
    @Rows("some")
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

    /** The line that makes sessions or what holds them keeps all of them; all is counted, so there is no error. */
    private static void mustRetainMost(Path dump) {
        String json = Command.run(Tools.command(), "histo", "--by", "site", "--json", dump).good().out;
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
