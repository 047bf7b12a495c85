package same;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.OnlyInTestAll;
import harness.Rows;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** The comparison on trial, without the agent: it finds nothing where nothing is, and what is there. */
class BaselineTest {
    private static final int PIECE = 1_000_003;

    @TempDir Path folder;

    static List<Jdk> jdks() {
        return Stream.of(11, 17, 21, 25).map(Jdks::of).collect(Collectors.toList());
    }

    @OnlyInTestAll("it runs HotSpot alone, without the agent")
    @ParameterizedTest
    @Rows("jdks")
    void hotspotIsTheSameAsHotspot(Jdk jdk) {
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-Xmx512m").run(Quiet.class).ready()) {
            HprofFile first = HprofFile.read(jvm.hotspotDumpAll(folder.resolve("first.hprof")));
            HprofFile second = HprofFile.read(jvm.hotspotDumpAll(folder.resolve("second.hprof")));
            SameAsHotSpotTest.mustHaveBeenQuiet(jvm);
            Findings findings = Comparison.of(second, first, Comparison.Order.HOTSPOT_FIRST);
            assertEquals(0, findings.differences(), findings::toString);
        }
    }

    /** 11, where classes have other names, and a later one, where they may be hidden. */
    static List<Jdk> elevenAndLater() {
        return Stream.of(11, 17).map(Jdks::of).collect(Collectors.toList());
    }

    @OnlyInTestAll("most of a minute; it judges the comparison, not the product")
    @ParameterizedTest
    @Rows("elevenAndLater")
    void faultsAreFoundAndLibertiesAllowed(Jdk jdk) throws IOException {
        Path dump = folder.resolve("hotspot.hprof");
        Path survivors = folder.resolve("survivors.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-Xmx512m").run(Quiet.class).ready()) {
            jvm.hotspotDumpAll(dump);
            jvm.hotspotDump(survivors);
        }
        ofTheDumps(jdk, HprofFile.read(compressed(dump)), HprofFile.read(dump));
        ofTheSurvivors(HprofFile.read(dump), HprofFile.read(survivors));
    }

    private static void ofTheDumps(Jdk jdk, HprofFile ours, HprofFile theirs) {
        Liberties.in(ours, theirs);
        Findings allowed = Comparison.of(ours, theirs, Comparison.Order.HOTSPOT_FIRST);
        assertEquals(0, allowed.differences(), allowed::toString);
        Set<Rule> taken = EnumSet.of(Rule.UNREACHABLE, Rule.CANONICAL_NAN, Rule.PSEUDO_STATIC, Rule.SERVING_THREAD,
                Rule.NEVER_LOADED, Rule.UNLINKED, Rule.HIDDEN_FIELD, Rule.BOOT_ARRAY_CLASS, Rule.DEPENDED_ON);
        taken.add(jdk.major == 11 ? Rule.HELD_BY_JVM : Rule.COMPILED_FRAME);
        mustHaveLetPass(taken, allowed);
        Faults faults = Faults.in(ours, theirs);
        for (Comparison.Order order : Comparison.Order.values()) {
            Findings found = Comparison.of(ours, theirs, order);
            assertEquals(Faults.kinds(faults.of(order)), found.kinds(), found::toString);
            faults.of(order).forEach(fault -> assertTrue(found.tells(fault.kind, fault.words),
                    () -> "not reported: " + fault.kind + ", " + fault.words + ": " + found));
        }
    }

    private static void ofTheSurvivors(HprofFile ours, HprofFile survivors) {
        Liberties.inSurvivors(ours);
        Findings allowed = new Findings();
        Survivors.compare(ours, survivors, allowed);
        assertEquals(0, allowed.differences(), allowed::toString);
        mustHaveLetPass(EnumSet.of(Rule.UNSEEN_LIFE), allowed);
        // What frames hold, and what only class objects do.
        ours.objects.keySet().removeIf(id -> ours.typeOf(id).equals("same.ManyThreads$Local")
                || ours.typeOf(id).equals("java.lang.Class$ReflectionData"));
        Findings found = new Findings();
        Survivors.compare(ours, survivors, found);
        assertTrue(found.tells("survivors that HotSpot's roots lead to and ours has not", "same.ManyThreads$Local"),
                found::toString);
        assertTrue(found.tells("survivors that ours has not", "java.lang.Class$ReflectionData"), found::toString);
    }

    private static void mustHaveLetPass(Set<Rule> rules, Findings findings) {
        rules.forEach(rule -> assertTrue(findings.allowed(rule) > 0, () -> rule + " let nothing pass: " + findings));
    }

    /** The dump in pieces, each compressed for itself. */
    private Path compressed(Path dump) throws IOException {
        byte[] bytes = Files.readAllBytes(dump);
        Path file = folder.resolve("compressed.hprof.gz");
        try (OutputStream out = Files.newOutputStream(file)) {
            for (int start = 0; start < bytes.length; start += PIECE) {
                GZIPOutputStream member = new GZIPOutputStream(out);
                member.write(bytes, start, Math.min(PIECE, bytes.length - start));
                member.finish();
            }
        }
        return file;
    }
}
