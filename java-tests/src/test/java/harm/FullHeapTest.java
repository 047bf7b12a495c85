package harm;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Attach;
import harness.Collector;
import harness.Engine;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.Rows;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;

/** A heap is dumped most of all when it is full: a dump takes no room in it, least of all the last. */
class FullHeapTest {
    private static final int DUMPS = 2;

    @TempDir Path folder;

    static Stream<Arguments> collectors() {
        return Jdks.majors().stream().flatMap(
                jdk -> Stream.of(Collector.SERIAL, Collector.G1).map(collector -> Arguments.of(jdk, collector)));
    }

    static List<Jdk> since11() {
        return Jdks.since(11);
    }

    @ParameterizedTest
    @Rows("collectors")
    void isDumpedByFork(Jdk jdk, Collector collector) {
        mustBeDumped(launch(jdk).with(collector), "full");
    }

    /** Any first OutOfMemoryError would end this JVM. */
    @ParameterizedTest
    @Rows("since11")
    void aDumpIsNotTheLastStraw(Jdk jdk) {
        mustBeDumped(fragile(jdk), "nearly");
    }

    private void mustBeDumped(Launch launch, String how) {
        Path file = folder.resolve("out.hprof");
        try (Jvm jvm = filled(launch.agent("heap=dump,doe=n,oom=n,file=" + file), how)) {
            jvm.signal("QUIT");
            assertTrue(Engine.isSnapshot(jvm.dumped(1)), jvm.err::text);
            isAlive(jvm);
        }
        new HprofCheck(file).good();
    }

    /** An agent that comes too late to have its objects has no way to dump the heap, and does no harm. */
    @ParameterizedTest
    @Rows("since11")
    void anAgentThatComesLateTakesNoRoomEither(Jdk jdk) {
        Path file = folder.resolve("out.hprof");
        try (Jvm jvm = filled(fragile(jdk), "nearly")) {
            jvm.attach("heap=dump,file=" + file);
            String line = HoldingTest.outcome(jvm, 1);
            assertTrue(line.startsWith("no dump: the heap is too full for "), line);
            isAlive(jvm);
        }
        assertFalse(Files.exists(file));
    }

    static Stream<Jdk> since17() {
        return Jdks.since(17).stream();
    }

    /** Whether there is room is asked again when ZGC has freed some. */
    @ParameterizedTest
    @Rows("since17")
    void isDumpedIfItIsFullForMoments(Jdk jdk) throws Exception {
        try (Jvm jvm = filled(Jvm.on(jdk, folder).with(Collector.ZGC).switches("-Xmx400m"), "moments")) {
            for (int number = 1; number <= DUMPS; number++) {
                Path file = folder.resolve(number + ".hprof");
                String end = Attach.dump(jvm, number, "file=" + file);
                assertTrue(Engine.isSnapshot(end) || Engine.wasMoving(end), jvm.err::text);
                jvm.standStill();
                new HprofCheck(file).good();
                Files.delete(file);
                jvm.goOn();
            }
            isAlive(jvm);
        }
    }

    private Launch launch(Jdk jdk) {
        return Jvm.on(jdk, folder).switches("-Xmx48m");
    }

    /** Nothing is ever freed, no thread has room of its own, and the first OutOfMemoryError is the end. */
    private Launch fragile(Jdk jdk) {
        return launch(jdk).switches("-XX:+UseEpsilonGC", "-XX:-UseTLAB", "-XX:+ExitOnOutOfMemoryError");
    }

    /** The heap is full when the program has had its first word; the JVM is ready to be attached to by then. */
    private static Jvm filled(Launch launch, String how) {
        Jvm jvm = launch.run(FullHeap.class, how);
        jvm.out.await("WARM", Jvm.LIMIT);
        jvm.jcmd("VM.version");
        return jvm.say("fill").ready();
    }

    private static void isAlive(Jvm jvm) {
        jvm.say("after").out.await("ALIVE", Jvm.LIMIT);
    }
}
