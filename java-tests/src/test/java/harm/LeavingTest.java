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
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A JVM that ends waits for its last dump, but not for one that goes nowhere, and Ctrl-\ meanwhile does no harm. */
class LeavingTest extends HoldingTest {
    /**
     * HotSpot 11 and 17 have ended threads of the collector by then whose times a thread dump would ask for, and crash for that once
     * the stacks of those are gone.
     */
    @ParameterizedTest
    @ValueSource(ints = {11, 17, 25})
    void aRequestDuringTheLastDumpDoesNoHarm(int major) throws IOException {
        try (Jvm jvm = holding(Jdks.of(major), Place.ENCODING, "").with(Collector.G1).run(Leaving.class).ready()) {
            jvm.say("exit");
            awaitHeldCopy();
            for (int i = 1; i <= 3; i++) {
                rounds(jvm, 3);
                jvm.signal("QUIT");
            }
            rounds(jvm, 3);
            release();
            assertEquals(0, jvm.exit(), jvm.err::text);
            assertTrue(Engine.isSnapshot(jvm.dumped(1)), jvm.err::text);
        }
        new HprofCheck(folder.resolve("out.1.hprof")).good();
        assertEquals(Set.of("out.1.hprof"), new Folder(folder).dumps());
    }

    /** Waits until the program has done this many more rounds. */
    private static void rounds(Jvm jvm, int more) {
        int before = (int) jvm.out.lines().stream().filter(line -> line.startsWith("ROUND")).count();
        jvm.out.await(before + more, "rounds", line -> line.startsWith("ROUND"), Jvm.LIMIT);
    }

    /** Stopped by somebody, frozen, or at a disk that hangs: nobody waits for `timeout` then. */
    @ParameterizedTest
    @Rows("two")
    void aCopyThatIsStoppedIsGivenUp(Jdk jdk) {
        try (Jvm jvm = run(holding(jdk, Place.MARKING, "timeout=600,"))) {
            signal(heldCopy(jvm), "STOP");
            jvm.signal("TERM");
            assertEquals("no dump: the JVM ends, and the forked copy was stopped by a signal", outcome(jvm, 1));
            assertEquals(143, jvm.exit(), jvm.err::text);
            assertTrue(Engine.isSnapshot(outcome(jvm, 2)), jvm.err::text);
            assertEquals(List.of("out.2.hprof"), List.copyOf(new Folder(folder).dumps()));
        }
        new HprofCheck(folder.resolve("out.2.hprof")).good();
    }
}
