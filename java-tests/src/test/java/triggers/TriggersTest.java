package triggers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harm.ControlGroup;
import harm.OutOfMemory;
import harness.Beside;
import harness.Collector;
import harness.Deadline;
import harness.Folder;
import harness.HprofCheck;
import harness.InTurn;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.MemoryGroup;
import harness.NetBeansReader;
import harness.Rows;
import harness.Setup;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lifecycle.Patient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** Conditions cause one dump for each cause and none without one; what is kept stays bounded. */
class TriggersTest {
    /** Longer than several readings of the agent's. */
    private static final Duration LOAD = Duration.ofSeconds(3);

    private static final Predicate<String> DUMPED = line -> line.startsWith("hprof-rs: dumped ");
    private static final Predicate<String> NO_DUMP = line -> line.startsWith("hprof-rs: no dump: ");

    /** Much shorter than the time between two readings. */
    private static final Duration BREATH = Duration.ofMillis(100);

    @TempDir Path folder;

    /** The oldest, whose JDK and system calls differ, and a new one. */
    static List<Jdk> some() {
        return List.of(Jdks.of(8), Jdks.of(25));
    }

    /** All collectors of one JDK, and the usual one of the others. */
    static Stream<Setup> setups() {
        Jdk all = Jdks.of(17);
        return Setup.matrix().stream()
                .filter(setup -> setup.jdk.equals(all) || setup.collector == Collector.G1 && some().contains(setup.jdk));
    }

    @Beside
    @ParameterizedTest
    @Rows("setups")
    void aFullHeapHasOneDumpUntilItWasEmpty(Setup setup) {
        try (Jvm jvm = setup.on(folder).switches("-Xmx128m")
                .agent("heap=dump,doe=n,oom=n,on=heap>60%x2,cooldown=1s,file=out.%n.hprof").run(Load.class).ready()) {
            // What is allocated while they collect is in use afterwards, too: docs/production.md.
            boolean isConcurrent = setup.collector == Collector.ZGC || setup.collector == Collector.SHENANDOAH;
            load(jvm, 0, "keep 30", isConcurrent ? "keep 30" : "garbage 300");
            loadUntil(jvm, 1, "keep 75");
            load(jvm, 1, "keep 75");
            load(jvm, 1, "keep 30");
            loadUntil(jvm, 2, "keep 75");
            String line = dumps(jvm).get(0);
            assertTrue(line.contains("dumped out.1.hprof because of heap>60%x2: "), line);
            assertTrue(line.contains(" MB in use after a collection, 2 in a row: "), line);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        new HprofCheck(folder.resolve("out.1.hprof")).good();
        new HprofCheck(folder.resolve("out.2.hprof")).good();
    }

    @Beside
    @ParameterizedTest
    @Rows("some")
    void aLeakCausesADumpAndASteadyHeapDoesNot(Jdk jdk) {
        try (Jvm jvm = Jvm.on(jdk, folder).with(Collector.PARALLEL).switches("-Xmx128m")
                .agent("heap=dump,doe=n,on=growth>10%/2s,file=out.%n.hprof").run(Load.class).ready()) {
            for (int round = 0; round < 2; round++) {
                load(jvm, 0, "keep 20", "garbage 100");
            }
            Deadline deadline = Deadline.in(Jvm.LIMIT);
            for (double percent = 20; dumps(jvm).isEmpty() && !deadline.over(); percent = Math.min(80, percent * 1.02)) {
                did(jvm, "keep " + (int) percent);
                did(jvm, "garbage 50");
            }
            String line = dumps(jvm).get(0);
            assertTrue(line.contains(" because of growth>10%/2s: use after collections grew from "), line);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    @InTurn("eachLimitOfAContainerCausesADump")
    @Beside
    @ParameterizedTest
    @Rows("some")
    void muchMemoryOfTheMachineCausesADump(Jdk jdk) throws IOException {
        String total = Files.readAllLines(Path.of("/proc/meminfo")).get(0).replaceAll("\\D", "");
        String most = "-Xmx" + Long.parseLong(total) / 100 * 6 + "k";
        try (Jvm jvm = Jvm.on(jdk, folder).with(Collector.SERIAL).switches(most)
                .agent("heap=dump,doe=n,on=rss>2%,cooldown=1s,file=out.%n.hprof").run(Load.class).ready()) {
            did(jvm, "keep 5");
            mustStay(jvm, 0, LOAD);
            did(jvm, "keep 60");
            jvm.dumped(1);
            mustStay(jvm, 1, LOAD);
            assertTrue(dumps(jvm).get(0).contains(" because of rss>2%: the process has "), jvm.err::text);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /** As in a container: of 300 MB, the heap may have 200. Its use and that of the process have a dump each. */
    @Beside
    @ParameterizedTest
    @Rows("some")
    void eachLimitOfAContainerCausesADump(Jdk jdk) throws IOException {
        Path group = MemoryGroup.make();
        MemoryGroup.leave(group, 300 << 20);
        try (Jvm jvm = Jvm.on(jdk, folder).with(Collector.SERIAL).switches("-Xmx200m").through(MemoryGroup.in(group))
                .agent("heap=dump,doe=n,on=rss>62%+heap>60%x2,cooldown=1s,file=out.%n.hprof").run(Load.class).ready()) {
            load(jvm, 0, "keep 20", "garbage 200");
            loadUntil(jvm, 2, "keep 75");
            load(jvm, 2, "keep 75");
            String causes = String.join("\n", dumps(jvm));
            assertTrue(causes.contains(" because of heap>60%x2: "), causes);
            assertTrue(causes.matches("(?s).* because of rss>62%: the process has \\d+ of 3\\d\\d MB.*"), causes);
            assertEquals(0, jvm.end(), jvm.err::text);
        } finally {
            ControlGroup.delete(group, Jvm.LIMIT);
        }
        for (int number = 1; number <= 2; number++) {
            new HprofCheck(folder.resolve("out." + number + ".hprof")).good();
        }
    }

    @InTurn("theDumpThatWasJustMadeStays")
    @Beside
    @ParameterizedTest
    @Rows("some")
    void aLoopOfDumpsAndARestartLeaveFewFiles(Jdk jdk) throws IOException {
        // Of another application, by chance under such a name, and old.
        Path foreign = Files.write(folder.resolve("out.99.hprof"), "JAVA PROFILE 1.0.2\0".getBytes(StandardCharsets.UTF_8));
        Files.setLastModifiedTime(foreign, FileTime.fromMillis(0));
        String options = "heap=dump,doe=n,on=every=1s,count=4,files=2,file=out.hprof";
        for (int run = 0; run < 2; run++) {
            try (Jvm jvm = Jvm.on(jdk, folder).agent(options).run(Load.class).ready()) {
                jvm.dumped(4);
                mustStay(jvm, 4, LOAD);
                assertEquals(0, jvm.end(), jvm.err::text);
            }
            Set<String> names = new TreeSet<>(new Folder(folder).dumps());
            assertTrue(names.remove("out.99.hprof"), names::toString);
            assertEquals(2, names.size(), names::toString);
            for (String name : names) {
                new HprofCheck(folder.resolve(name)).good();
                byte[] head = java.util.Arrays.copyOf(Files.readAllBytes(folder.resolve(name)), 200);
                String text = new String(head, StandardCharsets.ISO_8859_1);
                assertTrue(text.contains("hprof-rs: dumped because of every=1s: "), text);
                try (NetBeansReader reader = new NetBeansReader(folder.resolve(name))) {
                    assertEquals(1, reader.histogram().of("java.lang.Class[]") > 0 ? 1 : 0);
                }
            }
        }
    }

    /** The clock was set back: what the dump before left is of the future. */
    @ParameterizedTest
    @Rows("some")
    void theDumpThatWasJustMadeStays(Jdk jdk) throws IOException {
        String options = "heap=dump,doe=n,files=2,file=out.%n.hprof";
        try (Jvm jvm = Jvm.on(jdk, folder).agent(options).run(Load.class).ready()) {
            for (int i = 1; i <= 4; i++) {
                jvm.signal("QUIT");
                jvm.dumped(i);
                new Folder(folder).await("out." + i + ".hprof", Jvm.LIMIT);
                if (i < 3) {
                    Files.setLastModifiedTime(folder.resolve("out." + i + ".hprof"), FileTime.fromMillis(4102444800000L));
                }
            }
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        Set<String> names = new Folder(folder).dumps();
        assertTrue(names.size() == 2 && names.contains("out.4.hprof"), names::toString);
    }

    @Beside
    @ParameterizedTest
    @Rows("some")
    void noDumpTakesTheSpaceThatMustStayFree(Jdk jdk) {
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=dump,on=every=1s,count=2,minfree=900t,file=out.hprof")
                .run(Load.class).ready()) {
            jvm.err.await(2, "a refusal", NO_DUMP, Jvm.LIMIT);
            jvm.err.mustNotCome(3, "a refusal", NO_DUMP, LOAD);
            assertTrue(jvm.err.text().contains(" must stay free; remove files, or change minfree="), jvm.err::text);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        assertEquals(Set.of(), new Folder(folder).dumps());
    }

    @Beside
    @ParameterizedTest
    @Rows("some")
    void anOutOfMemoryErrorIsTheCauseOfItsDump(Jdk jdk) {
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-Xmx32m").agent("heap=dump,doe=n,on=oom+heap>99%x1000,file=out.hprof")
                .run(OutOfMemory.class, "heap", "main", "caught")) {
            assertEquals(0, jvm.exit(), jvm.err::text);
            assertEquals(1, dumps(jvm).size(), jvm.err::text);
            assertTrue(dumps(jvm).get(0).contains("dumped out.hprof because of oom: "), jvm.err::text);
        }
        new HprofCheck(folder.resolve("out.hprof")).good();
    }

    @Beside
    @Test
    void whatIsWrongIsNamed() {
        for (String[] wrong : new String[][] {
            {"on=oom+heep>90%", "on=oom+heep>90%: heep>90%: there is no such condition; there are oom, heap>90%x3, "},
            {"on=every=1h,do=leaks,hprof=no/such", "do=leaks needs the command hprof, which is not at no/such: "},
            {"on=every=1h,do=sites", "do=sites reports allocation sites, which are not recorded: add heap=sites or heap=all"},
            {"do=histo", "do= is what a condition causes: add one"},
            {"on=oom,oom=n", "on=oom and oom=n contradict each other"},
            {"files=3,format=a", "files= keeps binary dumps in files, which format=a does not make"},
        }) {
            try (Jvm jvm = Jvm.on(Jdks.of(17), folder).agent("heap=dump," + wrong[0]).run(Patient.class)) {
                assertNotEquals(0, jvm.exit());
                assertTrue(jvm.err.text().contains("hprof-rs: " + wrong[1]), jvm.err::text);
            }
        }
    }

    /** Sends these words again and again, while there must be no more than this many dumps. */
    private static void load(Jvm jvm, int dumps, String... words) {
        Deadline deadline = Deadline.in(LOAD);
        while (!deadline.over()) {
            for (String word : words) {
                did(jvm, word);
            }
            mustStay(jvm, dumps, BREATH);
        }
    }

    /** There must be no more than this many dumps for this time. */
    private static void mustStay(Jvm jvm, int dumps, Duration time) {
        jvm.err.mustNotCome(dumps + 1, "a dump", DUMPED, time);
    }

    /** Sends a word until there are this many dumps. */
    private static void loadUntil(Jvm jvm, int count, String word) {
        Deadline deadline = Deadline.in(Jvm.LIMIT);
        while (dumps(jvm).size() < count) {
            assertFalse(deadline.over(), jvm.err::text);
            did(jvm, word);
        }
    }

    private static void did(Jvm jvm, String word) {
        long before = jvm.out.lines().stream().filter(line -> line.startsWith("DID")).count();
        jvm.say(word);
        jvm.out.await((int) before + 1, "the end of " + word, line -> line.startsWith("DID"), Jvm.LIMIT);
    }

    private static List<String> dumps(Jvm jvm) {
        return jvm.err.lines().stream().filter(DUMPED).collect(Collectors.toList());
    }
}
