package attach;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import harness.Attach;
import harness.Collector;
import harness.Command;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Setup;
import harness.SocketFile;
import harness.Tools;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import lifecycle.Patient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** A running JVM gives the answers of its dump, and sends no value; the planted leaks are in {@code planted.PlantedTest}. */
class LiveTest extends CommandTest {
    @TempDir Path folder;

    static List<Jdk> some() {
        return List.of(Jdks.of(8), Jdks.of(17), Jdks.of(25));
    }

    @ParameterizedTest
    @Rows("some")
    void theAnswerIsThatOfADump(Jdk jdk) throws IOException {
        Path dump = folder.resolve("a.hprof");
        Path page = folder.resolve("page.html");
        try (Jvm jvm = Jvm.on(jdk, folder).run(leaks.Leaks.class, "listeners").ready()) {
            Command first = hprof("histo", "--objects", jvm.pid(), "--json", "--top", 0).good();
            dump(jvm.pid(), "-o", dump).good();
            Map<String, String> live = retained(first.out);
            assertEquals(retained(hprof("histo", "--objects", dump, "--json", "--top", 0).good().out), live);
            assertEquals(2 * leaks.Leaks.SESSIONS + 1, live.size());
            JsonObject histogram = json(hprof("histo", jvm.pid(), "--json").good());
            assertEquals(leaks.Leaks.SESSIONS, instances(histogram, "leaks.Leaks$Session"));
            hprof("report", jvm.pid(), "-o", page).good();
            assertTrue(Files.size(page) > 10_000);
            Command diff = hprof("diff", jvm.pid(), "--after", "1s", "--fail-if-grown", 1_000_000).good();
            assertTrue(diff.out.contains("all reachable objects: "), diff::toString);
            mustRefuse(hprof("waste", jvm.pid()), "sends no values");
            assertEquals(0, jvm.end(), jvm.err::text);
            mustRefuse(hprof("leaks", jvm.pid()), "there is no process");
        }
    }

    /** Nothing but the sizes of the classes travels; a dump through a socket has the same thread of the agent's. */
    @ParameterizedTest
    @Rows("harness.Setup#matrix")
    void theCountsAreThoseOfADump(Setup setup) throws IOException {
        Path dump = folder.resolve("a.hprof");
        try (Jvm jvm = setup.on(folder).run(Patient.class).ready()) {
            if (setup.collector == Collector.ZGC && setup.jdk.major < 17) {
                mustRefuse(hprof("histo", jvm.pid()), "hprof dump " + jvm.pid() + " --stop-the-world writes a file");
            } else {
                // The first loads the agent, which makes objects.
                hprof("histo", jvm.pid()).good();
                JsonObject live = json(hprof("histo", jvm.pid(), "--json").good());
                Command.run("sh", "-c", "'" + Tools.command() + "' dump " + jvm.pid() + " -o - > '" + dump + "'").good();
                JsonObject dumped = json(hprof("histo", dump, "--json").good());
                assertTrue(live.remove("pause_ms").getAsLong() >= 0);
                assertEquals(dumped, live);
                String line = jvm.err.lines().stream().filter(it -> it.contains("sent the counts of the heap: ")).findFirst().get();
                assertTrue(Long.parseLong(line.replaceFirst(".*: (\\d+) bytes, .*", "$1")) < 100_000, line);
            }
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    @Test
    void aHeapThatCannotBeForkedIsRefused() {
        try (Jvm jvm = Jvm.on(Jdks.of(11), folder).with(Collector.ZGC).run(Patient.class).ready()) {
            Command refused = hprof("leaks", jvm.pid());
            mustRefuse(refused, "the collector maps the heap so that a fork does not copy it");
            mustRefuse(refused, "hprof dump " + jvm.pid() + " --stop-the-world writes a file");
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    @ParameterizedTest
    @Rows("harness.Jdks#majors")
    void noValueIsSent(Jdk jdk) throws Exception {
        Path socket = folder.resolve("socket");
        try (Jvm jvm = Jvm.on(jdk, folder).run(Secrets.class).ready(); SocketFile listener = new SocketFile(socket)) {
            CompletableFuture<byte[]> taken = listener.take(Integer.MAX_VALUE);
            Attach.load(jvm, "heap=dump,send=graph:" + socket);
            byte[] stream = taken.join();
            assertTrue(contains(stream, "attach/Secrets".getBytes(StandardCharsets.UTF_8)));
            assertEquals(0x2C, stream[stream.length - 9]);
            for (char letter : new char[] {'s', 'b'}) {
                String part = Secrets.text(letter).substring(0, 6);
                assertFalse(contains(stream, part.getBytes(StandardCharsets.UTF_8)), part);
                assertFalse(contains(stream, part.getBytes(StandardCharsets.UTF_16LE)), part);
            }
            for (long seed : new long[] {3, 5, 7}) {
                for (ByteOrder order : List.of(ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN)) {
                    byte[] number = ByteBuffer.allocate(8).order(order).putLong(Secrets.number(seed)).array();
                    assertFalse(contains(stream, number), seed + " " + order);
                }
            }
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    @Test
    void aPeerThatGoesHalfWayHarmsNothing() {
        Path socket = folder.resolve("socket");
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).run(same.Restless.class).ready();
                SocketFile listener = new SocketFile(socket)) {
            // In the head, which the JVM itself writes, and among the objects, which its copy writes: more than a socket holds.
            for (int most : new int[] {1, 150_000}) {
                CompletableFuture<byte[]> taken = listener.take(most);
                Command attached = jvm.attach("heap=dump,send=graph:" + socket);
                assertEquals(most, taken.join().length);
                assertTrue(attached.out.contains("return code: 200"), attached::toString);
            }
            // Nobody is there at all.
            Command alone = jvm.attach("heap=dump,send=graph:" + folder.resolve("nobody"));
            assertTrue(alone.out.contains("return code: 200"), alone::toString);
            hprof("leaks", jvm.pid()).good();
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    private static Command hprof(Object... words) {
        Object[] all = new Object[words.length + 1];
        all[0] = Tools.command();
        System.arraycopy(words, 0, all, 1, words.length);
        return Command.run(all);
    }

    private static JsonObject json(Command command) {
        return JsonParser.parseString(command.out).getAsJsonObject();
    }

    /** The application's objects by their ids, with class and sizes. */
    private static Map<String, String> retained(String json) {
        Map<String, String> found = new TreeMap<>();
        for (JsonElement element : JsonParser.parseString(json).getAsJsonObject().getAsJsonArray("objects")) {
            JsonObject object = element.getAsJsonObject();
            if (object.get("class").getAsString().startsWith("leaks.")) {
                found.put(object.get("id").getAsString(), object.toString());
            }
        }
        return found;
    }

    private static long instances(JsonObject histogram, String type) {
        for (JsonElement element : histogram.getAsJsonArray("classes")) {
            if (element.getAsJsonObject().get("class").getAsString().equals(type)) {
                return element.getAsJsonObject().get("objects").getAsLong();
            }
        }
        return 0;
    }

    private static boolean contains(byte[] all, byte[] part) {
        // One byte is one character.
        String text = new String(all, StandardCharsets.ISO_8859_1);
        return text.contains(new String(part, StandardCharsets.ISO_8859_1));
    }
}
