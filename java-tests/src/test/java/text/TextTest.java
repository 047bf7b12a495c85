package text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Attach;
import harness.Command;
import harness.Beside;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Testimony;
import harness.Tools;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import sites.Leak;

/** A heap dump as text has what a binary dump of the same JVM has, line by line. */
class TextTest {
    private static final Pattern DUMPED = Pattern.compile(".* (\\d+) bytes(?:, (\\d+) objects, (\\d+) classes)?; .* engine ([^,;]+).*");
    /** Least percentage of lines that are the same in the dumps before and after the text. */
    private static final int STEADY = 99;
    /** Classes with fields that the JVM hides, or with room around one. */
    private static final Pattern HIDDEN_FIELDS = Pattern.compile("java\\.lang\\.(Class|Module|InternalError|Thread|VirtualThread)"
            + "|.*Thread|.*ClassLoader|.*ReferenceHandler|.*MemberName|.*CallSite.*|.*StackFrameInfo|.*ResolvedMethodName");
    /** What fills the room that a thread has not used up yet: only HotSpot's own dumper writes it. */
    private static final Predicate<String> FILLER = Pattern.compile("ARR .*elem type=int\\[\\]\\)").asMatchPredicate();
    /** Least percentage of classes whose instances have the size that is computed before Java 15. */
    private static final int EXACT = 88;

    @TempDir Path folder;

    static List<Jdk> jdks() {
        return Jdks.majors();
    }

    static Stream<Arguments> engines() {
        return jdks().stream().flatMap(jdk -> Stream.of("stop=auto", "stop=always").map(stop -> Arguments.of(jdk, stop)));
    }

    /** Ids are addresses: the same in all dumps, as long as nothing is collected. */
    @ParameterizedTest
    @Beside
    @Rows("engines")
    void hasTheLinesOfABinaryDump(Jdk jdk, String engine) throws Exception {
        try (Jvm jvm = quiet(jdk)) {
            // What the first dump loads and makes is there for the others.
            Attach.dump(jvm, 1, engine + ",file=" + folder.resolve("before.hprof"));
            TextDump first = binary(jvm, 2, engine);
            TextDump found = text(jvm, 3, engine);
            TextDump last = binary(jvm, 4, engine);
            // HotSpot's own file has the agent's name for it, a string and its characters, at another address in each dump.
            int own = engine.equals("stop=always") ? 2 : 0;
            compare("roots", own, first.roots, found.roots, last.roots);
            compare("objects", own, withoutSizes(first), withoutSizes(found), withoutSizes(last));
            compare("classes", 0, first.classes, found.classes, last.classes);
        }
    }

    private Jvm quiet(Jdk jdk) {
        return Jvm.on(jdk, folder).switches("-Xmx512m").run(Known.class).ready();
    }

    /** A binary dump as `hprof convert` shows it, whose goldens have each kind of line. */
    private TextDump binary(Jvm jvm, int number, String options) throws Exception {
        Path file = folder.resolve(number + ".hprof");
        Path text = folder.resolve(number + ".converted.txt");
        Attach.dump(jvm, number, options + ",file=" + file);
        Command.run(Tools.command(), "convert", file, "-o", text).good();
        return new TextDump(text);
    }

    /** The text, whose counts are those of its lines, of the agent's last line, and of the subject. */
    private TextDump text(Jvm jvm, int number, String options) throws Exception {
        Path file = folder.resolve(number + ".txt");
        Matcher end = DUMPED.matcher(Attach.dump(jvm, number, options + ",format=a,file=" + file));
        assertTrue(end.matches() && end.group(4).equals(options.endsWith("always") ? "hotspot" : "snapshot"), jvm.err::text);
        TextDump text = new TextDump(file);
        assertEquals(Files.size(file), Long.parseLong(end.group(1)));
        if (end.group(2) != null) {
            assertEquals(text.objects, Long.parseLong(end.group(2)));
            assertEquals(text.classes.size(), Integer.parseInt(end.group(3)));
            // HotSpot's own file has no records of threads.
            assertTrue(text.before.stream()
                    .anyMatch(line -> line.startsWith("THREAD START (") && line.endsWith("name=\"main\", group=\"main\")")));
        }
        counts(text, Testimony.of(jvm));
        return text;
    }

    private static List<String> withoutSizes(TextDump dump) {
        return dump.entries.stream().map(TextDump::withoutSize).collect(Collectors.toList());
    }

    /** What was there before and after is in the text, and what is in the text was there before or after. */
    private static void compare(String what, int own, List<String> first, List<String> text, List<String> last) {
        Set<String> found = new HashSet<>(text);
        Set<String> before = new HashSet<>(first);
        Set<String> steady = new HashSet<>(last);
        steady.retainAll(before);
        assertTrue(steady.size() * 100L >= (long) STEADY * before.size() && !steady.isEmpty(),
                () -> what + ": " + steady.size() + " of " + before.size() + " are the same in two binary dumps");
        Set<String> missing = new HashSet<>(steady);
        missing.removeAll(found);
        assertEquals(List.of(), some(missing), what + " that the text has not, of " + steady.size());
        found.removeAll(before);
        found.removeAll(new HashSet<>(last));
        found.removeIf(FILLER);
        assertTrue(found.size() <= own, () -> what + " that only the text has: " + some(found));
        boolean isBetween = Math.min(first.size(), last.size()) <= text.size() && text.size() <= Math.max(first.size(), last.size());
        assertTrue(isBetween, () -> what + ": " + first.size() + ", " + text.size() + ", " + last.size());
    }

    private static List<String> some(Set<String> lines) {
        return lines.stream().sorted().limit(5).collect(Collectors.toList());
    }

    /** The first line of the dump is true, and agrees with the subject. */
    private static void counts(TextDump dump, Testimony testimony) {
        assertEquals(dump.entries.size() + dump.classes.size(), dump.objects);
        assertEquals(dump.entries.stream().mapToLong(TextDump::size).sum(), dump.bytes);
        for (String[] line : testimony.all("EXPECT")) {
            assertEquals(Long.parseLong(line[1]), dump.of(line[2]).size(), line[2]);
        }
        long withItself = dump.of("text.Known$Leaf").stream().filter(leaf -> leaf.contains("\n\tsomethingElse\t")).count();
        assertEquals(Known.LEAVES / 2, withItself);
        String first = dump.of("text.Known$Node").get(0).split(" ")[1];
        assertTrue(dump.classes.stream().anyMatch(type -> type.contains("(name=text.Known, ") && type.contains("\n\tloader\t\t")
                && type.contains("\n\tstatic FIRST\t") && !type.contains("NOTHING") && !type.contains("NUMBER")), first);
        assertTrue(dump.before.stream().anyMatch(line -> line.startsWith("\ttext.Known.main(Known.java:")));
    }

    /** Switches that change what objects take, and on which Java. */
    static Stream<Arguments> layouts() {
        return Jdks.majors().stream().flatMap(jdk -> Stream.of("-XX:+UseCompressedOops", "-XX:-UseCompressedOops",
                "-XX:ObjectAlignmentInBytes=16", "-XX:-UseCompressedClassPointers", "-XX:+UseCompactObjectHeaders")
                .filter(option -> !option.contains("Compact") || jdk.major >= 25)
                // Gone in later ones, and in 25 without effect.
                .filter(option -> !option.contains("ClassPointers") || jdk.major <= 21)
                .map(option -> Arguments.of(jdk, option)));
    }

    @ParameterizedTest
    @Beside
    @Rows("layouts")
    void sizesAreThoseOfTheHistogram(Jdk jdk, String option) throws Exception {
        Path text = folder.resolve("text.txt");
        Map<String, Long> sizes = new TreeMap<>();
        TextDump dump;
        try (Jvm jvm = Jvm.on(jdk, folder).switches(option, "-Xmx512m").run(Known.class).ready()) {
            Attach.dump(jvm, 1, "format=a,file=" + text);
            for (String line : jvm.jcmd("GC.class_histogram").good().out.split("\n")) {
                String[] words = line.trim().split("\\s+");
                if (words.length >= 4 && words[0].matches("\\d+:")) {
                    sizes.put(words[3], Long.parseLong(words[2]) / Long.parseLong(words[1]));
                }
            }
            dump = new TextDump(text);
        }
        Map<String, String> wrong = new TreeMap<>();
        Set<String> compared = new HashSet<>();
        for (String entry : dump.entries) {
            String name = TextDump.className(entry);
            if (entry.startsWith("OBJ ") && sizes.containsKey(name)) {
                compared.add(name);
                assertTrue(TextDump.size(entry) <= sizes.get(name), entry);
                if (sizes.get(name) != TextDump.size(entry)) {
                    wrong.put(name, TextDump.size(entry) + " for " + sizes.get(name));
                }
            }
        }
        wrong.keySet().removeIf(name -> HIDDEN_FIELDS.matcher(name).matches());
        int allowed = jdk.major >= 15 ? 0 : (100 - EXACT) * compared.size() / 100;
        assertTrue(wrong.size() <= allowed, () -> wrong.size() + " of " + compared.size() + ": " + wrong);
        assertTrue(compared.contains("text.Known$Leaf") && compared.contains("text.Known$Node"), compared::toString);
        assertTrue(wrong.keySet().stream().noneMatch(name -> name.startsWith("text.")), wrong::toString);
        // Arrays of references are distinguished by their length: of one class there is one with these elements.
        long twos = sizes.get("[[Ltext.Known$Node;");
        assertEquals(twos, TextDump.size(dump.of("text.Known$Node[][]").get(0)));
        for (String entry : dump.of("double[]")) {
            Matcher elements = Pattern.compile("nelems=(\\d+)").matcher(entry);
            assertTrue(elements.find() && Long.parseLong(elements.group(1)) * 8 == TextDump.size(entry), entry);
        }
    }

    static List<Jdk> since11() {
        return Jdks.since(11);
    }

    @ParameterizedTest
    @Beside
    @Rows("since11")
    void sitesFollowInTheSameFile(Jdk jdk) throws Exception {
        Path text;
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=all,format=a,sampling=64k,maxcost=0,file=" + folder.resolve("all.%p.txt.gz"))
                .run(Leak.class).ready()) {
            text = folder.resolve("all." + jvm.pid() + ".txt.gz");
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(DUMPED.matcher(jvm.dumped(1)).matches(), jvm.err::text);
        }
        TextDump dump = new TextDump(text);
        assertTrue(dump.behind.get(0).startsWith("SITES BEGIN (ordered by live bytes) "), dump.behind::toString);
        assertEquals("SITES END", dump.behind.get(dump.behind.size() - 1));
        String[] site = dump.behind.get(3).trim().split(" +");
        assertEquals("byte[]", site[8]);
        int trace = dump.before.indexOf("TRACE " + site[7] + ":");
        assertTrue(trace > 0 && dump.before.get(trace + 1).startsWith("\tsites.Leak.leak(Leak.java:"), () -> dump.before.get(trace + 1));
        // Of the arrays four of five are sampled, and so have a stack.
        long leaked = dump.of("byte[]").stream().filter(array -> array.contains(", trace=" + site[7] + ", ")).count();
        assertTrue(0.6 * Leak.LEAKS < leaked && leaked <= Leak.LEAKS, () -> leaked + " of " + Leak.LEAKS);
    }
}
