package harm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Collector;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import java.io.IOException;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever becomes of the forked copy, the application runs on, and the dump is made in another way or refused in a line. */
class HarmTest extends HoldingTest {
    private static final String ONLY_FORK = "engine=snapshot,snapshot=fork,";

    static Stream<Arguments> places() {
        return two().stream().flatMap(jdk -> Stream.of(Place.values()).map(place -> Arguments.of(jdk, place)));
    }

    /** Killed, or without a page to copy to (hugetlbfs): neither tells anything of the heap. */
    static Stream<Arguments> ends() {
        return places().flatMap(place -> Stream.of(
                Arguments.of(place.get()[0], place.get()[1], "KILL", "was ended by signal 9"),
                Arguments.of(place.get()[0], place.get()[1], "BUS", "crashed with signal 7")));
    }

    @ParameterizedTest
    @MethodSource("ends")
    void aCopyThatEndsIsReplacedByAWalkInThePause(Jdk jdk, Place place, String signal, String how) {
        try (Jvm jvm = storm(jdk, place, "")) {
            signal(heldCopy(jvm), signal);
            fellBack(jvm, "the child " + how);
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    void aKilledCopyLeavesNothingWhereNoOtherWayIsAllowed(Jdk jdk, Place place) {
        try (Jvm jvm = storm(jdk, place, ONLY_FORK)) {
            signal(heldCopy(jvm), "KILL");
            gaveUp(jvm, "the engine that was asked for cannot serve here: the child was ended by signal 9; "
                    + "without engine= and snapshot= the agent takes another");
        }
    }

    /** What crashed may have missed a part of the heap that was said to be unused: another copy gets all of it. */
    @ParameterizedTest
    @MethodSource("two")
    void aCrashIsFollowedByACopyOfAllTheHeap(Jdk jdk) throws IOException {
        // Until there the first copy comes; further on it may be the third, which has all of the heap.
        try (Jvm jvm = run(holding(jdk, Place.SETTLED, "").with(Collector.G1))) {
            signal(heldCopy(jvm), "SEGV");
            assertTrue(jvm.dumped(1).endsWith("engine snapshot"), jvm.err::text);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        new HprofCheck(folder.resolve("out.1.hprof")).good();
    }

    /** A copy that has all of the heap, knows the layout and crashes has met what would crash the application, too. */
    @ParameterizedTest
    @MethodSource("places")
    void aCrashIsTheEndOnceTheLayoutIsKnown(Jdk jdk, Place place) {
        // Of this collector nothing is known to be unused.
        try (Jvm jvm = run(holding(jdk, place, "").with(Collector.SERIAL))) {
            signal(heldCopy(jvm), "SEGV");
            String how = "the child crashed with signal 11";
            if (place == Place.SETTLED) {
                fellBack(jvm, how);
            } else {
                gaveUp(jvm, "the heap seems to be damaged: " + how
                        + "; no other engine is tried, as it would read the heap inside the application");
            }
        }
    }

    /** The timer of its own that kills a copy without a sign of life reaches a stopped one, too. */
    @ParameterizedTest
    @MethodSource("places")
    void aCopyThatHangsIsKilledByItsWatchdog(Jdk jdk, Place place) {
        try (Jvm jvm = storm(jdk, place, "timeout=5,")) {
            signal(heldCopy(jvm), "STOP");
            hangs(jvm, place, 5, "the child was ended by signal 9");
        }
    }

    /** Without a timer it is the parent that ends it, five seconds later. */
    @ParameterizedTest
    @EnumSource(Place.class)
    void aCopyThatHangsWithoutAWatchdogIsKilledByTheParent(Place place) {
        try (Jvm jvm = run(holding(Jdks.of(25), place, "timeout=2,").through("env", "WATCHDOG=none"))) {
            signal(heldCopy(jvm), "STOP");
            hangs(jvm, place, 2, "the child was silent for 7 s");
        }
    }

    /** The application's memory counts twice while there is a copy, and a system can be told to promise no more than it has. */
    @ParameterizedTest
    @MethodSource("two")
    void withoutMemoryForACopyTheHeapIsWalkedInThePause(Jdk jdk) {
        try (Jvm jvm = run(holding(jdk, Place.SETTLED, "").through("env", "FORK=none"))) {
            jvm.signal("QUIT");
            fellBack(jvm, "there can be no fork: Cannot allocate memory (os error 12)");
        }
    }

    /** A copy whose first thread cannot be started could hang, and nobody would notice. */
    @ParameterizedTest
    @MethodSource("two")
    void withoutAThreadThatListensTheHeapIsWalkedInThePause(Jdk jdk) {
        try (Jvm jvm = run(watching(jdk, "", folder).through("env", "THREAD=none"))) {
            jvm.signal("QUIT");
            fellBack(jvm, "it can start no thread: Resource temporarily unavailable (os error 11)");
        }
    }

    /** A copy that hangs when it has begun to write may wait for the disk, as any other way would. */
    private void hangs(Jvm jvm, Place place, int seconds, String reason) {
        if (place == Place.SETTLED) {
            fellBack(jvm, reason);
        } else {
            gaveUp(jvm, "nothing more could be written for " + seconds + " s");
        }
    }

    private Jvm storm(Jdk jdk, Place place, String options) {
        return run(holding(jdk, place, options));
    }
}
