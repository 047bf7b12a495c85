package leaks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import harness.Jdks;
import harness.Jvm;
import harness.Tools;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A model finds the planted leak by the protocol's own client, from a file and from the JVM that runs. */
class McpTest {
    private static final long LEAST_BYTES = Leaks.SESSIONS * 1_016L;
    private static final int ANSWER_BYTES = 8 << 10;

    @TempDir Path folder;

    @Test
    void theLeakIsFoundInAFile() {
        Path dump = folder.resolve("leak.hprof");
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).agent("heap=all,sampling=0,file=" + dump).run(Leaks.class, "static").ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        JsonObject told = Tools.askMcp(List.of(dump), "overview", "leaks", "show={\"of\":\"{id}\"}",
                "top={\"by\":\"class\",\"limit\":5}", "top={\"by\":\"site\"}", "histo", "threads", "waste", "show={\"of\":\"0x1\"}");
        assertEquals("hprof", told.get("server").getAsString());
        assertFalse(tools(told).contains("refresh"), tools(told));
        assertFalse(tools(told).contains("dump"), tools(told));
        mustNameTheLeak(answer(told, 1));
        JsonObject path = answer(told, 2).getAsJsonObject("path");
        assertTrue(path.toString().contains("class leaks.Leaks"), path::toString);
        assertTrue(answer(told, 2).get("retained").getAsLong() >= LEAST_BYTES, told::toString);
        assertEquals(5, answer(told, 3).getAsJsonArray("rows").size());
        assertTrue(answer(told, 3).get("left_out").getAsInt() > 100, told::toString);
        assertTrue(answer(told, 4).toString().contains("leaks.Leaks$Session"), told::toString);
        JsonObject last = told.getAsJsonArray("answers").get(8).getAsJsonObject();
        assertTrue(last.get("failed").getAsBoolean(), last::toString);
        mustBeBrief(told);
    }

    @Test
    void aRunningJvmIsAskedAgainAndDumpedIfThatIsAllowed() {
        try (Jvm jvm = Jvm.on(Jdks.of(21), folder).agent("heap=all,sampling=0,file=" + folder.resolve("end.hprof"))
                .run(Leaks.class, "static").ready()) {
            List<Object> words = List.of(jvm.pid(), "--agent", Tools.agent());
            JsonObject told = Tools.askMcp(words, "overview", "leaks", "show={\"of\":\"{id}\"}", "refresh");
            assertFalse(tools(told).contains("waste") || tools(told).contains("dump"), tools(told));
            mustNameTheLeak(answer(told, 1));
            assertTrue(answer(told, 3).get("total_bytes_after").getAsLong() >= LEAST_BYTES, told::toString);
            mustBeBrief(told);

            List<Object> more = List.of(jvm.pid(), "--agent", Tools.agent(), "--allow-dump", folder);
            told = Tools.askMcp(more, "leaks", "dump", "overview", "leaks", "waste");
            assertTrue(answer(told, 1).get("bytes").getAsLong() >= LEAST_BYTES, told::toString);
            assertTrue(Path.of(answer(told, 1).get("file").getAsString()).toFile().isFile());
            assertTrue(answer(told, 2).get("has_values").getAsBoolean(), told::toString);
            mustNameTheLeak(answer(told, 3));
            mustBeBrief(told);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    private static void mustNameTheLeak(JsonObject answer) {
        String sentence = answer.get("sentence").getAsString();
        assertTrue(sentence.contains("held by the static field CACHE of class leaks.Leaks"), sentence);
        assertTrue(sentence.contains("allocated at leaks.Leaks$Session.<init>(Leaks.java:"), sentence);
        assertTrue(answer.getAsJsonArray("suspects").get(0).getAsJsonObject().get("retained").getAsLong() >= LEAST_BYTES, sentence);
    }

    private static void mustBeBrief(JsonObject told) {
        for (JsonElement answer : told.getAsJsonArray("answers")) {
            assertTrue(answer.getAsJsonObject().get("bytes").getAsInt() <= ANSWER_BYTES, answer::toString);
        }
    }

    private static JsonObject answer(JsonObject told, int place) {
        JsonArray answers = told.getAsJsonArray("answers");
        JsonObject one = answers.get(place).getAsJsonObject();
        assertFalse(one.get("failed").getAsBoolean(), one::toString);
        return one.getAsJsonObject("answer");
    }

    private static String tools(JsonObject told) {
        return told.getAsJsonArray("tools").toString();
    }
}
