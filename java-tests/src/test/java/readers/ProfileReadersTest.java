package readers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import cpu.Mix;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.PythonReaders;
import harness.Rows;
import harness.TextProfile;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import times.Called;

/**
 * The classic readers of the JDK's agent's texts take ours and come to the numbers that are in them: gprof2dot those of CPU
 * SAMPLES and CPU TIME, stackcollapse-hprof those of CPU SAMPLES. Of SITES neither knows.
 */
class ProfileReadersTest {
    /** gprof2dot prints two decimals. */
    private static final double ROUNDED = 0.00501;

    @TempDir Path folder;

    static List<Jdk> jdks() {
        return List.of(Jdks.of(8), Jdks.of(17), Jdks.of(25));
    }

    @ParameterizedTest
    @Rows("jdks")
    void bothReadSamples(Jdk jdk) {
        Path report = report(jdk, "cpu=samples,interval=1,cutoff=0", Mix.class, "5");
        TextProfile profile = new TextProfile(report);
        assertTrue(profile.self.containsKey("cpu.Mix.large"), profile.self::toString);
        mustBeIn(PythonReaders.gprof2dot(report), profile);
        assertEquals(profile.stacks, PythonReaders.stackcollapse(report));
    }

    @ParameterizedTest
    @Rows("jdks")
    void gprof2dotReadsTimes(Jdk jdk) {
        Path report = report(jdk, "cpu=times,cutoff=0", Called.class, "1000");
        TextProfile profile = new TextProfile(report);
        assertTrue(profile.self.get("times.Called.outer") == 1000, profile.self::toString);
        mustBeIn(PythonReaders.gprof2dot(report), profile);
        assertTrue(PythonReaders.stackcollapse(report, "--discard-thread").err.contains("CPU tracing is not supported"));
    }

    /** Other profiles with their stacks stand before the samples; gprof2dot takes the first stacks of a text for all. */
    @Test
    void stackcollapseReadsSamplesAmongOtherProfiles() {
        Path report = report(Jdks.of(17), "heap=sites,monitor=y,sampling=16k,cpu=samples,interval=1,cutoff=0", Mix.class, "5");
        TextProfile profile = new TextProfile(report);
        assertTrue(profile.self.containsKey("cpu.Mix.large"), profile.self::toString);
        assertEquals(profile.stacks, PythonReaders.stackcollapse(report));
    }

    /** gprof2dot does not know threads apart. */
    @Test
    void stackcollapseReadsSamplesOfThreads() {
        Path report = report(Jdks.of(17), "cpu=samples,thread=y,interval=1,cutoff=0", Mix.class, "5");
        assertEquals(new TextProfile(report).stacks, PythonReaders.stackcollapse(report));
        String folded = PythonReaders.stackcollapse(report, "--discard-lineno").good().out;
        assertTrue(folded.matches("(?s).*\\bThread \\d+;cpu\\.Mix\\.main;cpu\\.Mix\\.work;cpu\\.Mix\\.large.*"), folded);
    }

    private Path report(Jdk jdk, String options, Class<?> subject, String argument) {
        Path report = folder.resolve("report.txt");
        try (Jvm jvm = Jvm.on(jdk, folder).agent(options + ",file=" + report).run(subject, argument).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        return report;
    }

    /** The time of a method, which for gprof2dot is the number in the column of counts. */
    private static void mustBeIn(Map<String, Double> percents, TextProfile profile) {
        assertTrue(percents.keySet().containsAll(profile.self.keySet()), percents::toString);
        percents.forEach((method, percent) ->
                assertEquals(100.0 * profile.self.getOrDefault(method, 0L) / profile.total, percent, ROUNDED, method));
    }
}
