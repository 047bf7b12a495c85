package harm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Attach;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** The pause that a dump tells is what HotSpot's log says of its safepoints, also if the dump has to wait for a processor. */
class PauseTest {
    private static final int DUMPS = 3;
    /** HotSpot counts in milliseconds, for the stacks and for the heap, perhaps twice. */
    private static final long MOST_MORE_MILLIS = 10;

    private static final Pattern PAUSED = Pattern.compile("application paused for (\\d+) ms");
    private static final Pattern STOPPED = Pattern.compile("Total:\\s+(\\d+) ns");

    @TempDir Path folder;

    static List<Jdk> some() {
        return List.of(Jdks.of(17), Jdks.of(25));
    }

    @ParameterizedTest
    @Rows("some")
    void isWhatHotSpotCounts(Jdk jdk) throws Exception {
        Path log = folder.resolve("safepoints");
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-Xmx64m", "-XX:+UseSerialGC", "-Xlog:safepoint:file=" + log).run(Spinning.class).ready()) {
            for (int number = 1; number <= DUMPS; number++) {
                int before = stops(log).size();
                String line = Attach.dump(jvm, number, "file=" + folder.resolve(number + ".hprof"));
                List<Long> stops = stops(log);
                long nanos = stops.subList(before, stops.size()).stream().mapToLong(Long::longValue).sum();
                Matcher paused = PAUSED.matcher(line);
                assertTrue(paused.find(), line);
                assertTrue(Long.parseLong(paused.group(1)) <= nanos / 1_000_000 + MOST_MORE_MILLIS, line + " for stops of " + stops);
            }
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /** How long each stop took, in nanoseconds. */
    private static List<Long> stops(Path log) throws Exception {
        List<Long> stops = new ArrayList<>();
        Matcher stopped = STOPPED.matcher(Files.readString(log));
        while (stopped.find()) {
            stops.add(Long.parseLong(stopped.group(1)));
        }
        return stops;
    }
}
