package sites;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.OnlyInTestAll;
import harness.SiteList;
import harness.Tools;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An application that is not our own, a database, with every allocation counted (sampling=0). */
class ApplicationTest {
    private static final Pattern LINE = Pattern.compile("org\\.h2\\..+\\(\\w+\\.java:[1-9]\\d*\\)");
    private static final int SITES = 400;
    private static final int OBJECTS = 150_000;

    @TempDir Path folder;

    /** It computes what it does without the agent, and makes as many objects at each line on every Java. */
    @OnlyInTestAll("runs a database on three JVMs; ExactTest counts what is known")
    @Test
    void aDatabaseAnswersTheSameAndAllocatesTheSameOnEveryJava() {
        Map<String, Long> expected = allocations(Jdks.of(11));
        assertTrue(expected.size() > SITES, expected::toString);
        assertTrue(expected.values().stream().mapToLong(count -> count).sum() > OBJECTS, expected::toString);
        for (int major : List.of(17, 25)) {
            assertEquals(List.of(), differences(expected, allocations(Jdks.of(major))), "Java 11 and " + major);
        }
    }

    private static List<String> differences(Map<String, Long> some, Map<String, Long> others) {
        return Stream.of(some, others).flatMap(all -> all.keySet().stream()).distinct()
                .filter(key -> !Objects.equals(some.get(key), others.get(key)))
                .map(key -> key + ": " + some.get(key) + ", " + others.get(key)).collect(Collectors.toList());
    }

    /** How many objects each line of the database makes of each of its classes. */
    private Map<String, Long> allocations(Jdk jdk) {
        Path file = folder.resolve(jdk.major + ".hprof");
        try (Jvm plain = run(Jvm.on(jdk, folder));
                Jvm counted = run(Jvm.on(jdk, folder).agent("heap=sites,sampling=0,cutoff=0,file=" + file))) {
            assertTrue(plain.out.lines().size() > Ledger.ENTRIES, plain.out::text);
            assertEquals(plain.out.text(), counted.out.text(), "Java " + jdk);
            assertEquals(plain.err.lines(), lines(counted, line -> !line.startsWith("hprof-rs: ")), "Java " + jdk);
            List<String> ours = lines(counted, line -> line.startsWith("hprof-rs: "));
            assertEquals(1, ours.size(), ours::toString);
            assertTrue(ours.get(0).startsWith("hprof-rs: wrote " + file), ours::toString);
            assertTrue(ours.get(0).endsWith("every allocation by bytecode"), "some were not rewritten: " + ours);
        }
        new HprofCheck(file).good();
        SiteList sites = new SiteList(file, "sites");
        long texts = sites.sites.stream().filter(site -> site.className.equals("org.h2.value.ValueVarchar")
                && site.frames.stream().anyMatch(frame -> frame.startsWith("sites.Ledger.enter(")))
                .mapToLong(site -> site.allocatedObjects).sum();
        assertEquals(Ledger.ENTRIES, texts, "texts that were entered, on Java " + jdk);
        // Arrays and pages are cloned, too, which is sampled.
        Predicate<String> isNew = name -> name.startsWith("org.h2.") && !name.endsWith("[]") && !name.startsWith("org.h2.mvstore.Page");
        return sites.sites.stream().filter(site -> isNew.test(site.className) && !site.frames.isEmpty()
                && LINE.matcher(site.frames.get(0)).matches()).collect(Collectors.toMap(
                        site -> site.className + " " + site.frames.get(0), site -> site.allocatedObjects, Long::sum, TreeMap::new));
    }

    /** In the C locale Java 11 loads a table of charsets whose method is too large to be rewritten. */
    private static Jvm run(Launch launch) {
        Jvm jvm = launch.through("env", "LC_ALL=C.UTF-8").classPath(Tools.jar("h2-")).run(Ledger.class).ready();
        assertEquals(0, jvm.end(), jvm.err::text);
        return jvm;
    }

    private static List<String> lines(Jvm jvm, Predicate<String> kind) {
        return jvm.err.lines().stream().filter(kind).collect(Collectors.toList());
    }
}
