package triggers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import harness.Beside;
import harness.Collector;
import harness.Folder;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Setup;
import harness.SiteList;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import leaks.Leaks;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;

/** Samples of the heap have the JVM's own counts, and harm nothing where they cannot be taken or written. */
class SamplesTest {
    private static final Pattern ROW = Pattern.compile(" *\\d+: +(\\d+) +(\\d+) +(\\S+).*");

    @TempDir Path folder;

    static List<Jdk> some() {
        return TriggersTest.some();
    }

    static Stream<Setup> setups() {
        return TriggersTest.setups();
    }

    @Beside
    @ParameterizedTest
    @Rows("setups")
    void aSampleHasTheCountsOfTheJvm(Setup setup) throws IOException {
        try (Jvm jvm = setup.on(folder).agent("heap=dump,doe=n,on=every=1s,do=histo=%p.jsonl")
                .run(Leaks.class, "listeners").ready()) {
            Path lines = folder.resolve(jvm.pid() + ".jsonl");
            JsonObject sample = sampleAfter(2, lines);
            assertEquals(jvm.pid(), sample.get("pid").getAsLong());
            assertTrue(sample.get("cause").getAsString().startsWith("every=1s: "), sample::toString);
            assertTrue(sample.get("used_bytes").getAsLong() > 3_000_000, sample::toString);
            assertEquals(50, sample.getAsJsonArray("classes").size());
            Map<String, String> expected = ofTheApplication(jvm);
            assertEquals(2, expected.size(), expected::toString);
            Map<String, String> found = new TreeMap<>();
            long bytes = sample.getAsJsonObject("rest").get("bytes").getAsLong();
            for (JsonElement row : sample.getAsJsonArray("classes")) {
                JsonObject one = row.getAsJsonObject();
                bytes += one.get("bytes").getAsLong();
                if (one.get("class").getAsString().startsWith("leaks.")) {
                    found.put(one.get("class").getAsString(), one.get("instances") + " " + one.get("bytes"));
                }
            }
            assertEquals(expected, found);
            assertEquals(sample.get("bytes").getAsLong(), bytes);
            assertTrue(jvm.err.text().isEmpty(), jvm.err::text);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        assertFalse(Files.exists(folder.resolve("java.hprof")));
    }

    /** Stops nothing. */
    @Test
    void whereNoForkCopiesTheHeapThereIsNoSample() {
        try (Jvm jvm = Jvm.on(Jdks.of(11), folder).with(Collector.ZGC)
                .agent("heap=dump,doe=n,on=every=1s,do=histo=%p.jsonl").run(Leaks.class, "listeners").ready()) {
            String why = jvm.err.await(1, "a refusal", line -> line.contains("no sample of the heap: "), Jvm.LIMIT);
            assertTrue(why.endsWith(", and only a forked copy can be counted"), why);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    static Stream<Arguments> whatIsFull() {
        return some().stream().flatMap(jdk -> Stream.of(
                Arguments.of(jdk, "minfree=900t", " must stay free; remove files, or change minfree="),
                Arguments.of(jdk, "do=histo=taken", "taken cannot be written: "),
                Arguments.of(jdk, "do=histo=no/such/folder", "no/such/folder cannot be written: "),
                Arguments.of(jdk, "do=histo=link", "link cannot be written: it is a link, and the agent writes through none"),
                Arguments.of(jdk, "do=histo=/dev/full", "/dev/full cannot be written: it is no file")));
    }

    @Beside
    @ParameterizedTest
    @Rows("whatIsFull")
    void whatCannotBeWrittenIsToldOnce(Jdk jdk, String full, String why) throws IOException {
        Files.createDirectory(folder.resolve("taken"));
        Path victim = Files.createFile(folder.resolve("victim"));
        Files.createSymbolicLink(folder.resolve("link"), victim);
        String options = "heap=dump,doe=n,on=every=1s,do=histo,count=3," + full;
        try (Jvm jvm = Jvm.on(jdk, folder).agent(options).run(Load.class).ready()) {
            jvm.err.await(1, why, line -> line.contains(why), Jvm.LIMIT);
            // As long as the other two samples take.
            jvm.err.mustNotCome(2, why, line -> line.contains("no sample of the heap: "), Duration.ofSeconds(3));
            assertEquals(0, jvm.end(), jvm.err::text);
            assertEquals(1, jvm.err.lines().stream().filter(line -> line.contains("no sample of the heap: ")).count());
        }
        assertEquals(0, Files.size(victim));
        assertTrue(lines(folder.resolve("java.histo.jsonl")).stream().allMatch(line -> line.startsWith("{")));
    }

    @Beside
    @ParameterizedTest
    @Rows("some")
    void theCommandSaysWhatKeepsTheMemory(Jdk jdk) throws IOException {
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=dump,doe=n,on=every=1s,count=0,do=leaks=a.jsonl")
                .run(Leaks.class, "listeners").ready()) {
            String line = jvm.err.await(1, "an answer", it -> it.contains("appended the leak report to "), Jvm.LIMIT);
            assertTrue(line.contains("to a.jsonl because of every=1s: "), line);
            JsonObject answer = sampleAfter(1, folder.resolve("a.jsonl"));
            assertEquals(jvm.pid(), answer.get("pid").getAsLong());
            assertTrue(answer.get("cause").getAsString().startsWith("every=1s: "), answer::toString);
            String sentence = answer.getAsJsonObject("leaks").get("sentence").getAsString();
            assertTrue(sentence.contains("held by the static field BUS of class leaks.Leaks"), sentence);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        assertFalse(Files.exists(folder.resolve("java.hprof")));
    }

    @Beside
    @ParameterizedTest
    @Rows("some")
    void eachCauseHasAReportOfSites(Jdk jdk) {
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=sites,sampling=0,doe=n,on=every=1s,count=0,do=sites=a.txt")
                .run(Leaks.class, "listeners").ready()) {
            // The first of these may have begun before all sessions were there.
            long next = new Folder(folder).names().stream().filter(name -> name.matches("a(\\.\\d+)?\\.txt")).count();
            for (String file : List.of("a." + (next + 1) + ".txt", "a." + (next + 2) + ".txt")) {
                String start = "hprof-rs: wrote " + file + " because of every=1s: ";
                jvm.err.await(1, file, line -> line.startsWith(start), Jvm.LIMIT);
                SiteList sites = new SiteList(folder.resolve(file), "sites");
                assertEquals(Leaks.SESSIONS, sites.liveObjects("leaks.Leaks$Session"), sites.sites::toString);
            }
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        assertFalse(Files.exists(folder.resolve("java.hprof.txt")));
    }

    @Beside
    @Test
    void aDumpIsMadeBesideSamples() throws IOException {
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).agent("heap=dump,on=every=1s,do=histo,file=a.hprof")
                .run(Leaks.class, "listeners").ready()) {
            Path lines = folder.resolve("java.histo.jsonl");
            sampleAfter(1, lines);
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(jvm.err.text().contains("dumped a.hprof because of end of the JVM: "), jvm.err::text);
        }
    }

    /** The last sample, once there are this many that began after the call; one more may have begun before it. */
    private static JsonObject sampleAfter(int count, Path file) {
        int least = lines(file).size() + 1 + count;
        new Folder(file.getParent()).await(() -> lines(file).size() >= least, least + " samples in " + file, Jvm.LIMIT);
        List<String> all = lines(file);
        return JsonParser.parseString(all.get(all.size() - 1)).getAsJsonObject();
    }

    /** The whole lines of a file. */
    private static List<String> lines(Path file) {
        try {
            String text = Files.exists(file) ? Files.readString(file) : "";
            return Arrays.stream(text.split("(?<=\n)")).filter(line -> line.endsWith("\n")).collect(Collectors.toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What the JVM counts of the largest classes of the application. */
    private static Map<String, String> ofTheApplication(Jvm jvm) {
        Map<String, String> found = new TreeMap<>();
        for (String line : jvm.jcmd("GC.class_histogram").good().out.split("\n")) {
            Matcher row = ROW.matcher(line);
            if (row.matches() && row.group(3).startsWith("leaks.") && Long.parseLong(row.group(1)) >= Leaks.SESSIONS) {
                found.put(row.group(3), row.group(1) + " " + row.group(2));
            }
        }
        assertNotEquals(Map.of(), found);
        return found;
    }
}
