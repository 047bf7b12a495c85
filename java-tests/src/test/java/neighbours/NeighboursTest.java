package neighbours;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.consumer.RecordingFile;
import leaks.Leaks;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** Other tools on the same JVM at the same time: both have their results. */
class NeighboursTest {
    @TempDir Path folder;

    static List<Jdk> some() {
        return List.of(Jdks.of(8), Jdks.of(17), Jdks.of(25));
    }

    @ParameterizedTest
    @Rows("some")
    void aFlightRecordingGoesOn(Jdk jdk) throws IOException {
        Path recording = folder.resolve("recording.jfr");
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-XX:StartFlightRecording=filename=" + recording + ",settings=profile")
                .agent("heap=dump,doe=n,file=a.hprof").run(Leaks.class, "listeners").ready()) {
            dumped(jvm, "a.hprof");
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        holdsTheLeak("a.hprof");
        boolean isWhole = RecordingFile.readAllEvents(recording).stream()
                .anyMatch(event -> event.getEventType().getName().equals("jdk.JVMInformation"));
        assertTrue(isWhole, "the recording has no event of the JVM");
    }

    /** Another agent with tags and walks of its own: this one, as another library. */
    @ParameterizedTest
    @Rows("some")
    void anotherAgentWalksTheHeap(Jdk jdk) throws IOException {
        Path other = Files.copy(Tools.agent(), folder.resolve("libother.so"));
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-agentpath:" + other + "=heap=dump,doe=n,file=b.hprof")
                .agent("heap=dump,doe=n,file=a.hprof").run(Leaks.class, "listeners").ready()) {
            jvm.signal("QUIT");
            for (String name : List.of("a.hprof", "b.hprof")) {
                jvm.err.await(1, "word of " + name, line -> line.contains("dumped ") && line.contains(name), Jvm.LIMIT);
                holdsTheLeak(name);
            }
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    private static void dumped(Jvm jvm, String name) {
        jvm.signal("QUIT");
        jvm.err.await(1, "word of " + name, line -> line.contains("dumped ") && line.contains(name), Jvm.LIMIT);
    }

    private void holdsTheLeak(String name) {
        assertEquals(Leaks.SESSIONS, new HprofCheck(folder.resolve(name)).good().histogram().of("leaks.Leaks$Session"));
    }
}
