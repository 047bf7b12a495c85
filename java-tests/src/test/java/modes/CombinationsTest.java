package modes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Beside;
import harness.Command;
import harness.Folder;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.OnlyInTestAll;
import harness.Rows;
import harness.Tools;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;

/** Modes with others: there are the files that there should be, with the blocks that they should have, and the program does not notice. */
@OnlyInTestAll("starts 80 JVMs; TogetherTest has all modes at once, and options/ each refusal")
class CombinationsTest {
    /** What each block of a text must show of what {@link Small} does. */
    private static final Map<String, String> SHOWN = Map.of(
            "HEAP DUMP", "class=modes.Small@", "SITES", " byte[]", "MONITOR DUMP", "    THREAD ",
            "MONITOR TIME", " java.lang.Object (Java)", "CPU SAMPLES", " modes.Small.compute", "CPU TIME", " modes.Small.compute",
            "old", " modes.Small.compute(I)I modes.Small.main([Ljava/lang/String;)V ");
    private static final Pattern BEGIN = Pattern.compile(
            "(?:(HEAP DUMP|SITES|MONITOR DUMP|MONITOR TIME|CPU SAMPLES|CPU TIME)(?: \\(ms\\))? BEGIN.*|count callee caller time)");
    private static final Pattern END = Pattern.compile(
            "(HEAP DUMP|SITES|MONITOR DUMP|MONITOR TIME|CPU SAMPLES|CPU TIME)( \\(ms\\))? END");

    /** Options, and each file with its blocks. Java 8 does not sample allocations, so its dumps have sites only if each is counted. */
    private static final String[][] MODES = {
        {"", "java.hprof: [HEAP DUMP, SITES]"},
        {"heap=sites,format=b", "java.hprof: [SITES]"},
        {"heap=all,format=b,sampling=0", "java.hprof: [HEAP DUMP, SITES]"},
        {"heap=all,format=a", "java.hprof.txt: [HEAP DUMP, SITES]"},
        {"cpu=samples", "java.hprof.txt: [CPU SAMPLES]"},
        {"cpu=samples,format=b", "java.hprof: [CPU SAMPLES]"},
        {"heap=dump,cpu=samples", "java.hprof: [CPU SAMPLES, HEAP DUMP]"},
        {"heap=sites,cpu=samples,format=b,sampling=0", "java.hprof: [CPU SAMPLES, SITES]"},
        {"heap=all,cpu=samples,format=a", "java.hprof.1.txt: [CPU SAMPLES]", "java.hprof.txt: [HEAP DUMP, SITES]"},
        {"heap=dump,cpu=samples,monitor=y",
            "java.hprof.1.txt: [CPU SAMPLES, MONITOR DUMP, MONITOR TIME]", "java.hprof.txt: [HEAP DUMP]"},
        {"heap=dump,cpu=times", "java.hprof.1.txt: [CPU TIME]", "java.hprof.txt: [HEAP DUMP]"},
        {"heap=all,cpu=times,monitor=y,sampling=0",
            "java.hprof.1.txt: [CPU TIME, MONITOR DUMP, MONITOR TIME]", "java.hprof.txt: [HEAP DUMP, SITES]"},
        {"heap=all,cpu=old,format=a", "java.hprof.1.txt: [old]", "java.hprof.txt: [HEAP DUMP, SITES]"},
        {"heap=sites,cpu=old,monitor=y,sampling=0", "java.hprof.txt: [MONITOR DUMP, MONITOR TIME, SITES, old]"},
        {"cpu=samples,cpu=times", "java.hprof.txt: [CPU SAMPLES, CPU TIME]"},
        {"cpu=times,monitor=y", "java.hprof.txt: [CPU TIME, MONITOR DUMP, MONITOR TIME]"},
    };

    @TempDir Path folder;

    static Stream<Arguments> rows() {
        return Stream.of(8, 11, 17, 21, 25).map(Jdks::of)
                .flatMap(jdk -> Stream.of(MODES).map(modes -> Arguments.of(jdk, modes[0], expected(jdk, modes))));
    }

    private static String expected(Jdk jdk, String[] modes) {
        String files = Stream.of(modes).skip(1).reduce((one, other) -> one + "; " + other).get();
        return jdk.major >= 11 || modes[0].contains("sampling=0") ? files : files.replace("[HEAP DUMP, SITES]", "[HEAP DUMP]");
    }

    @ParameterizedTest
    @Beside
    @Rows("rows")
    void haveTheirFiles(Jdk jdk, String modes, String files) throws IOException {
        String options = ("cutoff=0," + modes).replace("cpu=samples", "cpu=samples,interval=1");
        // The subject runs for a moment only: no compiler need be at work, nor more than one thread that collects.
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC").agent(options).run(Small.class)) {
            assertEquals(Small.CODE, jvm.exit(), jvm.err::text);
            assertEquals(Small.OUTPUT.trim(), jvm.out.text(), options);
        }
        TreeMap<String, TreeSet<String>> found = new TreeMap<>();
        for (String name : new Folder(folder).dumps()) {
            found.put(name, name.endsWith(".hprof") ? records(folder.resolve(name)) : blocks(folder.resolve(name)));
        }
        StringBuilder told = new StringBuilder();
        found.forEach((name, blocks) -> told.append(told.length() > 0 ? "; " : "").append(name).append(": ").append(blocks));
        assertEquals(files, told.toString(), options);
    }

    /** What a binary file has, in the words of a text. */
    private static TreeSet<String> records(Path file) {
        new HprofCheck(file).good();
        TreeSet<String> blocks = new TreeSet<>();
        for (String line : Command.run(Tools.command(), "check", file).good().out.split("\n")) {
            String kind = line.split("  ")[0];
            switch (kind) {
                case "HEAP DUMP SEGMENT": blocks.add("HEAP DUMP"); break;
                case "ALLOC SITES": blocks.add("SITES"); break;
                case "CPU SAMPLES": blocks.add(kind); break;
                default: break;
            }
        }
        return blocks;
    }

    /** The blocks of a text, each of which must be there once, have an end, and show what the subject did. */
    private static TreeSet<String> blocks(Path file) throws IOException {
        TreeSet<String> blocks = new TreeSet<>();
        String open = "";
        boolean shown = false;
        for (String line : new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).split("\n")) {
            Matcher begin = BEGIN.matcher(line);
            if (begin.matches()) {
                assertEquals("", open, line);
                open = begin.group(1) == null ? "old" : begin.group(1);
                assertTrue(blocks.add(open), "twice: " + line);
                shown = false;
            } else if (END.matcher(line).matches()) {
                assertTrue(shown, () -> "not what the subject does: " + line);
                open = "";
            }
            shown |= !open.isEmpty() && line.contains(SHOWN.get(open));
        }
        // The format of java -prof has no end.
        assertTrue(open.isEmpty() || open.equals("old") && shown, open);
        return blocks;
    }
}
