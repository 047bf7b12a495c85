package harm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Collector;
import harness.Engine;
import harness.Folder;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import readers.Few;
import threads.Deep;

/** `maxpause=` bounds each way to a dump, by an estimate before it begins and, for a fork, by what its walk has taken. */
@Isolated("bounds a pause by time")
class MaxPauseTest {
    private static final String NO_DUMP = "hprof-rs: no dump: ";
    private static final String DUMPER = NO_DUMP + "HotSpot's own dumper would stop the application for up to \\d+ s, "
            + "if all of the heap in use is alive, and maxpause=1 allows less; raise it";
    /** A day: longer than any estimate for these heaps. */
    private static final String LONG = "maxpause=86400000,";

    @TempDir Path folder;

    static List<Jdk> jdks() {
        return Jdks.majors();
    }

    @ParameterizedTest
    @Rows("jdks")
    void boundsTheFork(Jdk jdk) {
        String[] inUse = {"-Xms128m", "-Xmx128m", "-XX:+AlwaysPreTouch"};
        try (Jvm jvm = asked(jdk, "maxpause=1,", "a", inUse)) {
            mustRefuse(jvm, NO_DUMP + "a fork would stop the application for \\d+ ms, by an estimate from the pages of the process, "
                    + "after 0 ms for attempts that failed, and maxpause=1 allows less; raise it");
        }
        try (Jvm jvm = asked(jdk, LONG, "b", inUse)) {
            mustDump(jvm, "engine snapshot");
        }
    }

    @ParameterizedTest
    @Rows("jdks")
    void boundsHotSpotsDumper(Jdk jdk) {
        try (Jvm jvm = asked(jdk, "stop=always,maxpause=1,", "a")) {
            mustRefuse(jvm, DUMPER);
        }
        try (Jvm jvm = asked(jdk, "stop=always," + LONG, "b")) {
            mustDump(jvm, "engine hotspot" + Engine.HOTSPOTS);
        }
    }

    /** Where there can be no fork, the stop is refused before it is announced. */
    @Test
    void boundsHotSpotsDumperInPlaceOfAFork() {
        try (Jvm jvm = Jvm.on(Jdks.of(11), folder).with(Collector.ZGC).run(Few.class).ready()) {
            jvm.attach("heap=dump,maxpause=1,file=" + dump("a"));
            mustRefuse(jvm, DUMPER);
            assertTrue(!jvm.err.text().contains("the dump stops the application"), jvm.err::text);
            jvm.attach("heap=dump," + LONG + "file=" + dump("b")).good();
            mustDump(jvm, "engine hotspot, as the collector maps the heap so that a fork does not copy it" + Engine.HOTSPOTS);
        }
    }

    /** Fifty thousand frames take HotSpot 11 some hundred milliseconds, and no estimate foresees it. */
    @Test
    void givesUpTheForkThatComesTooLate() {
        try (Jvm jvm = Jvm.on(Jdks.of(11), folder).switches("-Xmx128m").run(Deep.class).ready()) {
            jvm.attach("heap=dump,maxpause=15,file=" + dump("a"));
            mustRefuse(jvm, NO_DUMP + "the JVM examined the stacks of all threads for \\d+ ms, "
                    + "and maxpause=15 leaves too little time for the fork; raise it, try again, or dump while fewer threads run");
            jvm.attach("heap=dump," + LONG + "file=" + dump("b")).good();
            mustDump(jvm, "engine snapshot");
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(jvm.out.text().contains("ENDED"), jvm.out::text);
        }
    }

    /** No application is left that a pause would delay. */
    @Test
    void doesNotBoundTheLastDump() {
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).agent("heap=dump,maxpause=1,file=" + dump("b")).run(Few.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(Engine.isSnapshot(jvm.dumped(1)), jvm.err::text);
        }
        new HprofCheck(dump("b")).good();
    }

    private Path dump(String name) {
        return folder.resolve(name + ".hprof");
    }

    /** A JVM that was asked for a dump. */
    private Jvm asked(Jdk jdk, String options, String name, String... switches) {
        Jvm jvm = Jvm.on(jdk, folder).switches(switches).agent("heap=dump,doe=n," + options + "file=" + dump(name)).run(Few.class).ready();
        jvm.signal("QUIT");
        return jvm;
    }

    private void mustRefuse(Jvm jvm, String line) {
        String said = jvm.err.await(1, "a refusal", text -> text.startsWith(NO_DUMP), Jvm.LIMIT);
        assertTrue(said.matches(line), said);
        assertEquals(Set.of(), new Folder(folder).dumps());
    }

    private void mustDump(Jvm jvm, String end) {
        assertTrue(jvm.dumped(1).endsWith(end), jvm.err::text);
        new HprofCheck(dump("b")).good();
    }
}
