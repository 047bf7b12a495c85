package modes;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * All modes with all others: what cannot go together is refused by name, all else gives the files that it should with the
 * blocks that it should, and the program does not notice. {@link Modes} has what must come of options.
 */
@OnlyInTestAll("starts 60 JVMs; TogetherTest has all modes at once, and options/ each refusal")
class CombinationsTest {
    private static final Pattern BEGIN = Pattern.compile(
            "(?:(HEAP DUMP|SITES|MONITOR DUMP|MONITOR TIME|CPU SAMPLES|CPU TIME)(?: \\(ms\\))? BEGIN.*|count callee caller time)");
    private static final Pattern END = Pattern.compile(
            "(HEAP DUMP|SITES|MONITOR DUMP|MONITOR TIME|CPU SAMPLES|CPU TIME)( \\(ms\\))? END");

    @TempDir Path folder;

    @Test
    void everyCombination() {
        run(Jdks.of(17), Modes.all());
    }

    static Stream<Jdk> others() {
        return Stream.of(8, 11, 21, 25).map(Jdks::of);
    }

    @ParameterizedTest
    @Rows("others")
    void someOnOtherJavas(Jdk jdk) {
        run(jdk, List.of(
                new Modes("none", "none", false, "none", false),
                new Modes("sites", "samples", false, "b", true),
                new Modes("sites", "none", false, "none", false),
                new Modes("sites", "old", true, "none", true),
                new Modes("none", "samples,cpu=times", false, "none", false),
                new Modes("all", "times", true, "none", false),
                new Modes("all", "times", true, "a", true),
                new Modes("all", "samples", true, "a", false),
                new Modes("dump", "times", true, "none", false)));
    }

    private void run(Jdk jdk, List<Modes> table) {
        jdk.java();     // Skips the table as a whole: a check of assertAll that is skipped would count as failed.
        List<Executable> checks = new ArrayList<>();
        for (Modes modes : table) {
            checks.add(() -> run(jdk, modes));
        }
        assertAll(checks);
    }

    private void run(Jdk jdk, Modes modes) throws IOException {
        String options = modes.options();
        Path own = Files.createDirectories(folder.resolve(options));
        // The subject runs for a moment only: no compiler need be at work, nor more than one thread that collects.
        try (Jvm jvm = Jvm.on(jdk, own).switches("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC").agent(options).run(Small.class)) {
            int exit = jvm.exit();
            List<String> said = jvm.err.lines().stream().filter(line -> line.startsWith("hprof-rs: "))
                    .collect(Collectors.toList());
            if (modes.fault() != null) {
                assertNotEquals(0, exit, options);
                assertEquals(1, said.size(), () -> options + "\n" + jvm.err.text());
                assertTrue(said.get(0).startsWith("hprof-rs: " + modes.fault()), () -> options + ": " + said);
                assertEquals("", out(jvm), options + ": nothing may run");
                assertEquals(Set.of(), new Folder(own).dumps(), options);
                return;
            }
            assertEquals(Small.CODE, exit, () -> options + "\n" + jvm.err.text());
            assertEquals(Small.OUTPUT.trim(), jvm.out.text(), options);
            boolean samples = jdk.major >= 11;
            assertAll(options,
                    () -> assertEquals(modes.files(), new Folder(own).dumps()),
                    () -> holds(own, modes.dumpFile(), modes.dumpBlocks(samples)),
                    () -> holds(own, modes.reportFile(), modes.reportBlocks()));
        }
    }

    private static String out(Jvm jvm) {
        // The java command itself prints on stdout that there is no JVM.
        return jvm.out.lines().stream().filter(line -> line.contains("CHECK")).collect(Collectors.joining());
    }

    private static void holds(Path own, String name, Set<String> expected) throws IOException {
        if (name == null) {
            return;
        }
        Path file = own.resolve(name);
        if (name.endsWith(".hprof")) {
            new HprofCheck(file).good();
            assertEquals(expected, records(file), name);
        } else {
            assertEquals(expected, blocks(file), name);
        }
    }

    /** What a binary file has, in the words of a text. */
    private static Set<String> records(Path file) {
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
    private static Set<String> blocks(Path file) throws IOException {
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
            shown |= !open.isEmpty() && line.contains(Modes.SHOWN.get(open));
        }
        // The format of java -prof has no end.
        assertTrue(open.isEmpty() || open.equals("old") && shown, open);
        return blocks;
    }
}
