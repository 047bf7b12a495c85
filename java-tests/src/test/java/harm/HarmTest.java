package harm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Beside;
import harness.Collector;
import harness.Engine;
import harness.Folder;
import harness.HprofCheck;
import harness.InTurn;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import threads.Replaced;

/** Whatever becomes of the forked copy, the application runs on; no dump stops it for long unless the user allows that. */
class HarmTest extends HoldingTest {
    private static final String UNREAD = "not read to the end, so what only compiled frames hold there may be missing";
    private static final String CRASHED_IN_FRAMES =
            "hprof-rs: the forked copy crashed with signal 11 while it read compiled frames, so no other will read them";
    private static final String MADE_AGAIN =
            "hprof-rs: ImmutableOopMap of this JVM's compiled code cannot be read, so HotSpot searches for replaced objects";
    private static final String KILLED = "the forked copy was killed (signal 9), by a user or by the kernel when memory ran out";

    static Stream<Arguments> places() {
        return two().stream().flatMap(jdk -> Stream.of(Place.values()).map(place -> Arguments.of(jdk, place)));
    }

    /** Killed, or without a page to copy to (hugetlbfs): neither means that the heap is damaged. */
    static Stream<Arguments> ends() {
        return places().flatMap(place -> Stream.of(
                Arguments.of(place.get()[0], place.get()[1], "KILL", KILLED),
                Arguments.of(place.get()[0], place.get()[1], "BUS", "the forked copy crashed with signal 7")));
    }

    /** HotSpot's dumper would stop the application for long, because somebody killed the copy. */
    @ParameterizedTest
    @Rows("ends")
    void aCopyThatEndsEndsTheDump(Jdk jdk, Place place, String signal, String how) {
        try (Jvm jvm = storm(jdk, place, "")) {
            signal(heldCopy(jvm), signal);
            lostItsCopy(jvm, how);
        }
    }

    @ParameterizedTest
    @Rows("places")
    void aKilledCopyIsReplacedByHotSpotsDumpIfTheApplicationMayStop(Jdk jdk, Place place) {
        try (Jvm jvm = storm(jdk, place, "stop=y,")) {
            signal(heldCopy(jvm), "KILL");
            fellBack(jvm, KILLED);
        }
    }

    @ParameterizedTest
    @Rows("two")
    void aKilledCopyLeavesNothingWhereTheApplicationMayNotStop(Jdk jdk) {
        try (Jvm jvm = storm(jdk, Place.MARKING, "stop=n,")) {
            signal(heldCopy(jvm), "KILL");
            lostItsCopy(jvm, KILLED);
        }
    }

    /** A copy that crashed may have lacked a part of the heap that seemed unused: the next copy has all of it. */
    @ParameterizedTest
    @Rows("two")
    void aCrashIsFollowedByACopyOfAllTheHeap(Jdk jdk) throws IOException {
        Assumptions.assumeFalse(Boolean.getBoolean("unreadable"), "no process_vm_readv: the agent cannot find what is unused");
        // Until there the first copy comes; further on it may be the third, which has all of the heap.
        try (Jvm jvm = run(holding(jdk, Place.SETTLED, "").with(Collector.G1))) {
            signal(heldCopy(jvm), "SEGV");
            assertTrue(Engine.isSnapshot(jvm.dumped(1)), jvm.err::text);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        new HprofCheck(folder.resolve("out.1.hprof")).good();
    }

    /** After a crash over compiled frames no copy reads them: HotSpot makes the objects again that are replaced in them. */
    @InTurn("aCrashIsFollowedByACopyOfAllTheHeap")
    @ParameterizedTest
    @Rows("two")
    void aCrashOverCompiledFramesCostsNoDump(Jdk jdk) {
        Assumptions.assumeTrue(jdk.processor().equals("amd64"), "the agent reads no compiled frames of this processor");
        try (Jvm jvm = watching(jdk, "doe=n,", folder).through("env", "HOLD=frames").switches(Replaced.SWITCHES)
                .switches("--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED")
                .run(Replaced.class).ready()) {
            jvm.signal("QUIT");
            signal(awaitHeldCopy(), "SEGV");
            for (int number = 1; number <= 2; number++) {
                if (number == 2) {
                    jvm.signal("QUIT");
                }
                String end = jvm.dumped(number);
                // The copy reads no handles of threads then, either, and a line says so.
                assertTrue(end.endsWith(UNREAD), jvm.err::text);
            }
            assertEquals(0, jvm.end(), jvm.err::text);
            assertEquals(List.of(CRASHED_IN_FRAMES, MADE_AGAIN, MADE_AGAIN),
                    jvm.err.lines().stream().filter(line -> line.contains(" read") && !line.contains(UNREAD)).collect(Collectors.toList()));
            for (String dump : List.of("out.1.hprof", "out.2.hprof")) {
                long made = new HprofCheck(folder.resolve(dump)).good().histogram().of("threads.Replaced$Cursor");
                assertTrue(made > Replaced.MANY, made + " objects were made again");
            }
        }
    }

    /** A copy that has all of the heap, knows the layout and crashes has met what would crash the application, too. */
    @ParameterizedTest
    @Rows("places")
    void aCrashIsTheEndOnceTheLayoutIsKnown(Jdk jdk, Place place) {
        // Of this collector nothing is known to be unused, and in this mode it moves objects only while the application stands.
        try (Jvm jvm = run(holding(jdk, place, "").with(Collector.SHENANDOAH)
                .switches("-XX:+UnlockDiagnosticVMOptions", "-XX:ShenandoahGCMode=passive"))) {
            signal(heldCopy(jvm), "SEGV");
            String how = "the child crashed with signal 11";
            if (place == Place.SETTLED) {
                fellBack(jvm, how);
            } else {
                gaveUp(jvm, "the heap seems to be damaged: " + how
                        + "; nothing else is tried, because it would read the heap inside the application");
            }
        }
    }

    /** Where a copy starts, and where it writes: each case waits for seconds. */
    static Stream<Arguments> hangs() {
        return two().stream().flatMap(jdk -> Stream.of(Place.SETTLED, Place.MARKING).map(place -> Arguments.of(jdk, place)));
    }

    /** Its own alarm clock ends a copy that shows no life. One that hangs at a lock from the start is followed by another. */
    @ParameterizedTest
    @Rows("hangs")
    void aCopyThatHangsIsEndedByItsWatchdog(Jdk jdk, Place place) throws IOException {
        // At the start a copy has ten seconds, and all tries together the whole time.
        try (Jvm jvm = storm(jdk, place, place == Place.SETTLED ? "timeout=60," : "timeout=5,")) {
            heldCopy(jvm);
            if (place != Place.SETTLED) {
                gaveUp(jvm, "nothing more could be written for 5 s");
                return;
            }
            assertTrue(Engine.isSnapshot(jvm.dumped(1)), jvm.err::text);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        new HprofCheck(folder.resolve("out.1.hprof")).good();
    }

    static Stream<Arguments> silences() {
        return Stream.of(
                Arguments.of(Place.SETTLED, "STOP", "ticks"), Arguments.of(Place.MARKING, "CONT", "none"),
                Arguments.of(Place.ENCODING, "STOP", "ticks"));
    }

    /** The alarm does not end a copy that is stopped; some systems may refuse it. The parent ends the copy five seconds later. */
    @Beside
    @ParameterizedTest
    @Rows("silences")
    void aCopyThatItsWatchdogDoesNotEndIsKilledByTheParent(Place place, String signal, String watchdog) {
        try (Jvm jvm = run(holding(Jdks.of(25), place, "timeout=5,").through("env", "WATCHDOG=" + watchdog))) {
            signal(heldCopy(jvm), signal);
            String end = outcome(jvm, 1);
            assertTrue(end.matches("no dump: the forked copy was silent for 1[0-2] s"), end);
            isWell(jvm, Set.of("out.2.hprof"));
        }
    }

    /** The application's memory counts twice while there is a copy, and a system may promise no more than it has. */
    @ParameterizedTest
    @Rows("two")
    void withoutMemoryForACopyThereIsNoDump(Jdk jdk) {
        try (Jvm jvm = run(watching(jdk, "", folder).through("env", "FORK=none"))) {
            jvm.signal("QUIT");
            lostItsCopy(jvm, "there can be no fork: Cannot allocate memory (os error 12)");
        }
    }

    @ParameterizedTest
    @Rows("two")
    void withoutMemoryForACopyTheHeapIsWalkedIfTheApplicationMayStop(Jdk jdk) {
        try (Jvm jvm = run(watching(jdk, "stop=y,", folder).through("env", "FORK=none"))) {
            jvm.signal("QUIT");
            fellBack(jvm, "there can be no fork: Cannot allocate memory (os error 12)");
        }
    }

    /** A copy whose first thread cannot be started could hang, and nobody would notice. */
    @ParameterizedTest
    @CsvSource({"17, ''", "25, 'stop=y,'"})
    void aCopyWithoutAThreadThatListensGivesUp(int major, String option) {
        String reason = "the forked copy could not start a thread: Resource temporarily unavailable (os error 11)";
        try (Jvm jvm = run(watching(Jdks.of(major), option, folder).through("env", "THREAD=none"))) {
            jvm.signal("QUIT");
            if (option.isEmpty()) {
                lostItsCopy(jvm, reason);
            } else {
                fellBack(jvm, reason);
            }
        }
    }

    /** Where no fork copies the heap, the application stops for a dump unless the user says no; either way a line says so. */
    @ParameterizedTest
    @ValueSource(strings = {"", "stop=n,"})
    void whereNoForkCopiesTheHeapTheUserDecides(String option) {
        String why = "the collector maps the heap so that a fork does not copy it, so ";
        try (Jvm jvm = run(watching(Jdks.of(11), option + "doe=n,", folder).with(Collector.ZGC))) {
            jvm.signal("QUIT");
            String line = outcome(jvm, 1);
            if (option.isEmpty()) {
                jvm.err.await("hprof-rs: " + why + "the dump stops the application for up to ", Jvm.LIMIT);
                assertTrue(line.contains(", engine hotspot, as "), line);
                new HprofCheck(folder.resolve("out.1.hprof")).good();
            } else {
                assertTrue(line.matches("no dump: " + why + "a dump would stop the application for up to \\d+ s, "
                        + "if all of the heap in use is alive; add stop=y if it may"), line);
                assertEquals(Set.of(), new Folder(folder).dumps());
            }
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(jvm.out.text().contains("HOLDS"), jvm.out::text);
        }
    }

    private Jvm storm(Jdk jdk, Place place, String options) {
        return run(holding(jdk, place, options));
    }
}
