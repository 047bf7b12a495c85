package times;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Javac;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;

/** Times of methods (cpu=times): the counts are the program's own, exceptions and recursion included. */
@Isolated("measures times of methods")
class TimesTest {
    private static final int ROUNDS = 30_000;

    @TempDir Path folder;

    static List<Jdk> jdks() {
        return Jdks.since(8);
    }

    @ParameterizedTest
    @Rows("jdks")
    void theCountsAreTheProgramsOwn(Jdk jdk) throws IOException {
        Path file = folder.resolve("times.txt");
        try (Jvm jvm = Jvm.on(jdk, folder).agent("cpu=times,cutoff=0,file=" + file).run(Called.class, "" + ROUNDS).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            CpuTimes times = new CpuTimes(file);
            int compared = 0;
            for (String line : jvm.out.lines()) {
                String[] words = line.split(" ");
                if (words[0].equals("CALLED")) {
                    assertEquals(Long.parseLong(words[2]), times.calls(words[1]), line);
                    compared++;
                }
            }
            assertEquals(14, compared);
        }
    }

    /** 60, 30 and 10 percent of one method's time are distinguished by its callers. */
    @ParameterizedTest
    @Rows("jdks")
    void aMethodsTimeIsThatOfItsCallers(Jdk jdk) throws IOException {
        Path file = folder.resolve("times.txt");
        try (Jvm jvm = Jvm.on(jdk, folder).agent("cpu=times,cutoff=0,include=times.*,file=" + file)
                .run(Called.class, "10").ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        CpuTimes times = new CpuTimes(file);
        double spin = times.percent("times.Called.turn", "times.Called.spin");
        double three = times.percent("times.Called.turn", "times.Called.three");
        double one = times.percent("times.Called.turn", "times.Called.one");
        double all = spin + three + one;
        assertTrue(all > 80, () -> spin + " " + three + " " + one);
        assertEquals(60, spin * 100 / all, 3, "six tenths");
        assertEquals(30, three * 100 / all, 3, "three tenths");
        assertEquals(10, one * 100 / all, 3, "one tenth");
    }

    /** What the methods of a thread took is what the thread took by the kernel's account. */
    @ParameterizedTest
    @Rows("jdks")
    void theTimesOfAThreadAddUp(Jdk jdk) throws IOException {
        Path file = folder.resolve("times.txt");
        long nanos;
        try (Jvm jvm = Jvm.on(jdk, folder).agent("cpu=times,thread=y,cutoff=0,include=times.*,file=" + file)
                .run(Called.class, "" + ROUNDS).ready()) {
            nanos = Long.parseLong(jvm.out.lines().stream().filter(line -> line.startsWith("CPU ")).findFirst().get().substring(4));
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        CpuTimes times = new CpuTimes(file);
        String start = times.lines.stream().filter(line -> line.contains("name=\"main\"")).findFirst().get();
        String main = start.replaceAll(".*id = (\\d+),.*", "$1");
        double percent = times.rows.stream().filter(row -> main.equals(row.thread) && !row.method.equals("times.Called.main"))
                .mapToDouble(row -> row.percent).sum();
        double millis = times.totalMillis * percent / 100;
        // In main itself it gets the clock that it reads.
        assertEquals(nanos / 1e6, millis, nanos / 1e6 * 0.05, "milliseconds");
    }

    @Test
    void threadsAreKeptApart() throws IOException {
        Path file = folder.resolve("times.txt");
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).agent("cpu=times,thread=y,cutoff=0,include=times.*,file=" + file)
                .run(Called.class, "100").ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        CpuTimes times = new CpuTimes(file);
        long rows = times.rows.stream().filter(row -> row.method.equals("times.Called.leaf")).count();
        assertEquals(3, rows, "one for each thread");
        assertTrue(times.lines.stream().filter(line -> line.startsWith("THREAD START ")).count() >= 4);
        assertTrue(times.lines.stream().filter(line -> line.startsWith("THREAD END ")).count() >= 3);
    }

    @Test
    void aReportTellsWhatCameSinceTheLast() throws IOException {
        Path file = folder.resolve("times.txt");
        try (Jvm jvm = Jvm.on(Jdks.of(21), folder).agent("cpu=times,cutoff=0,file=" + file).run(Called.class, "50").ready()) {
            jvm.signal("QUIT");
            jvm.err.await("hprof-rs: wrote " + file, Jvm.LIMIT);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        assertEquals(50, new CpuTimes(file).calls("times.Called.outer"));
        CpuTimes second = new CpuTimes(folder.resolve("times.1.txt"));
        assertEquals(0, second.calls("times.Called.outer"));
        assertEquals(1, second.calls("java.lang.Shutdown.shutdown") + second.calls("java.lang.Shutdown.exit"));
    }

    @Test
    void onlyTheClassesThatAreWantedAreTimed() throws IOException {
        Path file = folder.resolve("times.txt");
        try (Jvm jvm = Jvm.on(Jdks.of(25), folder)
                .agent("cpu=times,cutoff=0,include=times.*;subject.*;!*$Square,file=" + file).run(Called.class, "50").ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        CpuTimes times = new CpuTimes(file);
        assertEquals(50, times.calls("times.Called.outer"));
        assertEquals(0, times.calls("times.Called$Square.<init>"));
        assertEquals(50, times.calls("times.Called$Refused.<init>"));
        assertTrue(times.rows.stream().allMatch(row -> row.method.startsWith("times.") || row.method.startsWith("subject.")));
    }

    /** A virtual thread takes its calls along when it leaves a carrier, also where nothing of the carrier is timed. */
    @ParameterizedTest
    @Rows("withVirtualThreads")
    void virtualThreadsHaveStacksOfTheirOwn(Jdk jdk) throws IOException {
        for (String include : List.of("include=times.*,", "")) {
            Path file = folder.resolve("virtual" + include.length() + ".txt");
            try (Jvm jvm = Jvm.on(jdk, folder).agent("cpu=times,cutoff=0," + include + "file=" + file)
                    .classPath(Javac.subjects(21)).run("times.Parking").ready()) {
                assertEquals(0, jvm.end(), jvm.err::text);
            }
            CpuTimes times = new CpuTimes(file);
            assertEquals(300, times.calls("times.Parking.burn"));
            long works = callsFrom(times, "times.Parking.works");
            long both = callsFrom(times, "times.Parking.both");
            assertEquals(100, works, "from works");
            assertEquals(200, both, "from both");
            assertTrue(times.rows.stream().filter(row -> row.method.equals("times.Parking.works")
                    || row.method.equals("times.Parking.both"))
                    .noneMatch(row -> row.caller != null && row.caller.startsWith("times.Parking.")));
        }
    }

    static List<Jdk> withVirtualThreads() {
        return Jdks.since(21);
    }

    private static long callsFrom(CpuTimes times, String caller) {
        return times.rows.stream().filter(row -> row.method.equals("times.Parking.burn") && caller.equals(row.caller))
                .mapToLong(row -> row.calls).sum();
    }

    @Test
    void theOldFormatHasCalleesAndCallers() throws IOException {
        Path file = folder.resolve("old.txt");
        try (Jvm jvm = Jvm.on(Jdks.of(11), folder).agent("cpu=old,file=" + file).run(Called.class, "50").ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        List<String> lines = Files.readAllLines(file);
        assertEquals("count callee caller time", lines.get(0));
        assertTrue(lines.stream().anyMatch(line -> line.startsWith("50 times.Called.catching(I)I times.Called.outer(I)I ")),
                () -> String.join("\n", lines.subList(0, 20)));
        assertFalse(lines.stream().anyMatch(line -> line.startsWith("TRACE")));
    }
}
