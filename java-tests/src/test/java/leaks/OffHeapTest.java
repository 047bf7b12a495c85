package leaks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import harness.Attach;
import harness.Command;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** `hprof memory` names nearly all resident memory, and the owners of what is outside of the heap. */
class OffHeapTest {
    private static final long BUFFERS_BYTES = (long) OffHeap.BUFFERS * OffHeap.BUFFER_BYTES;
    private static final long BLOCKS_BYTES = (long) OffHeap.BLOCKS * OffHeap.BLOCK_BYTES;
    private static final long FILES_BYTES = (long) OffHeap.FILES * OffHeap.FILE_BYTES;

    @TempDir Path folder;

    static List<Jdk> some() {
        return List.of(Jdks.of(8), Jdks.of(17), Jdks.of(21), Jdks.of(25));
    }

    @ParameterizedTest
    @Rows("some")
    void nearlyAllHasAName(Jdk jdk) throws Exception {
        Path dump = folder.resolve("off-heap.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=all,sampling=0,doe=n,file=" + dump).switches("-Xmx256m")
                .run(OffHeap.class, folder.toString()).ready()) {
            JsonObject live = ask(jvm.pid());
            mustNameOwners(live);
            mustNameMemory(jvm, live.getAsJsonObject("process"));
            mustAnswerTheAgent(jvm);
            mustBeInThePage(jvm);
            jvm.signal("QUIT");
            jvm.dumped(1);
            JsonObject file = ask(dump);
            mustNameOwners(file);
            assertTrue(file.get("process").isJsonNull(), file::toString);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /** The agent asks the same command, which finds the process by what it is sent. */
    private void mustAnswerTheAgent(Jvm jvm) throws Exception {
        Path answers = folder.resolve("memory.jsonl");
        Attach.load(jvm, "heap=dump,do=memory=" + answers + ",hprof=" + Tools.command());
        JsonObject line = JsonParser.parseString(Files.readString(answers)).getAsJsonObject();
        JsonObject answer = line.getAsJsonObject("memory");
        mustNameOwners(answer);
        mustNameMemory(jvm, answer.getAsJsonObject("process"));
    }

    private void mustBeInThePage(Jvm jvm) throws IOException {
        Path page = folder.resolve("page.html");
        Command.run(Tools.command(), "report", jvm.pid(), "-o", page, "--agent", Tools.agent()).good();
        String names = Files.readString(page).split("\"names\":", 2)[1];
        assertTrue(names.contains("\"direct_buffers\"") && names.contains("\"static field POOL of leaks.OffHeap"), names);
    }

    private static JsonObject ask(Object of) {
        Command asked = Command.run(Tools.command(), "memory", of, "--json", "--agent", Tools.agent()).good();
        return JsonParser.parseString(asked.out).getAsJsonObject();
    }

    private static void mustNameOwners(JsonObject answer) {
        JsonObject pool = holder(answer, "direct buffer", "static field POOL of leaks.OffHeap");
        assertEquals(OffHeap.BUFFERS, pool.get("objects").getAsLong(), answer::toString);
        assertEquals(BUFFERS_BYTES, pool.get("bytes").getAsLong(), answer::toString);
        JsonObject index = holder(answer, "mapped file", "static field INDEX of leaks.OffHeap");
        assertEquals(FILES_BYTES, index.get("bytes").getAsLong(), answer::toString);
        JsonObject open = holder(answer, "zip stream", "static field OPEN of leaks.OffHeap");
        assertEquals(OffHeap.DEFLATERS, open.get("objects").getAsLong(), answer::toString);
        assertTrue(answer.get("sentence").getAsString().contains("by static field POOL of leaks.OffHeap"), answer::toString);
        long buffers = answer.get("buffer_bytes").getAsLong();
        assertTrue(answer.get("owned_bytes").getAsLong() >= buffers * 9 / 10, answer::toString);
        assertTrue(buffers < (BUFFERS_BYTES + FILES_BYTES) * 11 / 10, answer::toString);
    }

    private static void mustNameMemory(Jvm jvm, JsonObject process) throws IOException {
        long resident = process.get("resident_bytes").getAsLong();
        if (process.get("unknown_bytes").getAsLong() > resident / 20) {
            fail(process + Files.readString(Path.of("/proc/" + jvm.pid() + "/smaps")));
        }
        assertTrue(process.get("threads").getAsLong() > OffHeap.THREADS, process::toString);
        assertTrue(used(process, "direct_buffers") >= BUFFERS_BYTES * 99 / 100, process::toString);
        assertTrue(used(process, "mapped_files") >= FILES_BYTES * 99 / 100, process::toString);
        // A thread touches some pages of its stack.
        assertTrue(used(process, "thread_stacks") >= OffHeap.THREADS * 8L << 10, process::toString);
        if (!process.get("is_hidden").getAsBoolean()) {
            assertTrue(used(process, "malloc") >= BLOCKS_BYTES, process::toString);
            assertTrue(used(process, "collector") < BLOCKS_BYTES / 2, process::toString);
        }
        for (String use : List.of("java_heap", "code_cache", "libraries", "malloc")) {
            assertTrue(used(process, use) > 0, () -> use + ": " + process);
        }
    }

    private static long used(JsonObject process, String use) {
        for (JsonElement row : process.getAsJsonArray("uses")) {
            if (row.getAsJsonObject().get("use").getAsString().equals(use)) {
                return row.getAsJsonObject().get("bytes").getAsLong();
            }
        }
        return 0;
    }

    /** The first row of this kind. */
    private static JsonObject holder(JsonObject answer, String kind, String owner) {
        for (JsonElement element : answer.getAsJsonArray("holders")) {
            JsonObject row = element.getAsJsonObject();
            if (row.get("kind").getAsString().equals(kind) && row.get("held_by").getAsString().startsWith(owner)) {
                return row;
            }
        }
        throw new AssertionError("no " + kind + " held by " + owner + ": " + answer);
    }
}
