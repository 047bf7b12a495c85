package agreement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.CpuStacks;
import harness.FlightRecording;
import harness.Javac;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.MonitorReport;
import harness.OnlyInTestAll;
import harness.Output;
import harness.Rows;
import harness.Shares;
import harness.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;

/** On real applications, a database and a compiler, our profiles are those of the JDK's own profiler (JFR). */
@Isolated("compares shares of processor time")
@OnlyInTestAll("runs a database and a compiler for minutes; CpuSamplesTest, TimesTest and MonitorsTest have the claims with programs of known cost")
class AgreementTest {
    /** Least number of stacks of JFR: fewer say too little about methods that have a few hundredths each. */
    private static final int STACKS = 300;
    /** Least number of stacks of the tenth method from the top. */
    private static final int STACKS_FOR_RANKS = 1000;
    /** It sees some 150 a second; fewer if the machine has other work. */
    private static final int MOST_RECORDINGS = 30;
    /** A larger number is not by chance. */
    private static final double STANDARD_ERRORS = 2;
    /**
     * So much of the time of the first ten methods of the one must be in the other, beyond chance. JFR sees compiled code only
     * where it has debug information, and neither native methods nor the VM: a method's time may be at its neighbour's. It is nine
     * tenths as a rule, less where the compilers are kept from their work.
     */
    private static final double OVERLAP = 0.6;
    /** Who called what is not moved by a few instructions. */
    private static final double OVERLAP_OF_CALLERS = 0.85;
    /** Between the readings of the clock by JFR and by the agent a thread may lose the processor. */
    private static final double OWN_MILLIS = 50;
    private static final double OWN_SHARE = 0.02;
    private static final double OWN_MILLIS_PER_WAIT = 0.5;
    private static final double MOST_MILLIS_OF_WAITS = 100;
    private static final String WARM_ROUNDS = "60";
    private static final String ROUNDS = "40";
    private static final String WARM_COMPILATIONS = "10";
    private static final String COMPILATIONS = "6";
    /** With every call timed, a round takes some ten times as long. */
    private static final String SLOW_ROUNDS = "6";
    private static final String WROTE = "hprof-rs: wrote ";

    @TempDir Path folder;

    static List<Jdk> jdks() {
        return List.of(Jdks.of(17), Jdks.of(21), Jdks.of(25));
    }

    @ParameterizedTest
    @Rows("jdks")
    void samplesAreThoseOfTheFlightRecorder(Jdk jdk) {
        samplesAgree(sampled(jdk).classPath(Tools.jar("h2-")).run(Database.class, WARM_ROUNDS), ROUNDS);
    }

    /** The oldest and the newest that have a compiler. */
    static Set<Jdk> compilers() {
        List<Jdk> all = Jdks.all().stream().filter(jdk -> jdk.major >= 17 && jdk.has("jdk.compiler") && jdk.has("jdk.jfr"))
                .collect(Collectors.toList());
        assertFalse(all.isEmpty(), "no Java from 17 on has a compiler: install a JDK");
        return new LinkedHashSet<>(List.of(all.get(0), all.get(all.size() - 1)));
    }

    /** A compiler's time is spread over thousands of methods, in deep stacks. */
    @ParameterizedTest
    @Rows("compilers")
    void samplesOfACompilerAreThoseOfTheFlightRecorder(Jdk jdk) {
        samplesAgree(sampled(jdk).run(Compiling.class, Javac.samplePackage().toString(), WARM_COMPILATIONS), COMPILATIONS);
    }

    private Launch sampled(Jdk jdk) {
        return Jvm.on(jdk, folder).agent("cpu=samples,interval=1,cutoff=0,depth=64,file=" + folder.resolve("cpu.txt"));
    }

    /**
     * In one JVM, but not at once: each sampler's signals fall into the other's handler, where stacks are lost or wrong. Ours
     * is before and after theirs, so that what the compilers still change is the same for both.
     */
    private void samplesAgree(Jvm application, String rounds) {
        FlightRecording theirs;
        try (Jvm jvm = application.ready()) {
            report(jvm);
            work(jvm, rounds);
            report(jvm);
            theirs = record(jvm, rounds, STACKS);
            report(jvm);
            work(jvm, rounds);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        CpuStacks ours = new CpuStacks(folder.resolve("cpu.1.txt"), folder.resolve("cpu.3.txt"));
        Shares running = new Shares(theirs.self(), theirs.stacks.size());
        Shares ourRunning = new Shares(ours.self(), ours.total());
        mustHave(ourRunning, running.first(10), running, OVERLAP);
        mustHave(running, ourRunning.first(10), ourRunning, OVERLAP);
        // The classes of lambdas have names of each reader's own.
        Shares calling = new Shares(theirs.inclusive(), theirs.stacks.size()).without(name -> name.contains("$$Lambda"));
        mustHave(new Shares(ours.inclusive(), ours.total()), calling.above(0.05), calling, OVERLAP_OF_CALLERS);
    }

    /** What these methods have there must be here, too. */
    private static void mustHave(Shares here, List<String> methods, Shares there, double least) {
        double overlap = there.overlap(methods, here, STANDARD_ERRORS);
        assertTrue(overlap >= least, () -> overlap + " of " + there + "\nis in " + here);
    }

    private static void work(Jvm jvm, String rounds) {
        int done = count(jvm.out, "READY");
        jvm.say(rounds).out.await(done + 1, "end of work", "READY"::equals, Jvm.LIMIT);
    }

    /** Makes the JVM work until JFR has enough stacks. */
    private FlightRecording record(Jvm jvm, String rounds, int stacks) {
        Path settings = FlightRecording.samples(folder);
        List<Path> files = new ArrayList<>();
        FlightRecording recording;
        do {
            files.add(folder.resolve("samples." + files.size() + ".jfr"));
            jvm.jcmd("JFR.start", "name=samples", "settings=" + settings).good();
            work(jvm, rounds);
            jvm.jcmd("JFR.stop", "name=samples", "filename=" + files.get(files.size() - 1)).good();
            recording = new FlightRecording(files.toArray(new Path[0]));
        } while (recording.stacks.size() < stacks && files.size() < MOST_RECORDINGS);
        assertTrue(recording.stacks.size() >= stacks, recording.stacks::toString);
        return recording;
    }

    private static void report(Jvm jvm) {
        int done = count(jvm.err, WROTE);
        jvm.signal("QUIT");
        jvm.err.await(done + 1, "word of a report", line -> line.startsWith(WROTE), Jvm.LIMIT);
    }

    private static int count(Output output, String start) {
        return (int) output.lines().stream().filter(line -> line.startsWith(start)).count();
    }

    /**
     * Here the tolerance is wide: to time each call costs more than the call of a small method. Still, of a thousand methods
     * the ten in which JFR, alone in another JVM, sees the database most half or more are among the thirty that cost most; by
     * chance it would be one at the most.
     */
    @Test
    void timesAreWhereTheFlightRecorderSeesThem() throws IOException {
        FlightRecording stacks;
        try (Jvm jvm = Jvm.on(Jdks.of(21), folder).classPath(Tools.jar("h2-")).run(Database.class, WARM_ROUNDS).ready()) {
            stacks = record(jvm, ROUNDS, STACKS_FOR_RANKS);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        try (Jvm jvm = Jvm.on(Jdks.of(21), folder).agent("cpu=times,cutoff=0,include=org.h2.*,file=" + folder.resolve("times.txt"))
                .classPath(Tools.jar("h2-")).run(Database.class, SLOW_ROUNDS).ready()) {
            report(jvm);
            work(jvm, SLOW_ROUNDS);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        // A method that is not timed counts for its caller, in ours; so it must in theirs.
        Shares theirs = new Shares(stacks.selfOf("org.h2."), stacks.stacks.size());
        Map<String, Long> partsPerMillion = new HashMap<>();
        for (String line : Files.readAllLines(folder.resolve("times.1.txt"))) {
            String[] words = line.trim().split(" +");
            if (words.length == 6 && words[5].startsWith("org.h2.")) {
                partsPerMillion.merge(words[5], Math.round(Double.parseDouble(words[1].replace("%", "")) * 1e4), Long::sum);
            }
        }
        Shares ours = new Shares(partsPerMillion, 1_000_000);
        List<String> first = ours.first(30);
        long found = theirs.first(10).stream().filter(first::contains).count();
        // The flight recorder sees a thread only at some places of compiled code, so its first method may be another's share.
        assertTrue(found >= 5, () -> found + " of " + theirs + "\nin " + ours);
    }

    /** The JVM reports each wait to both: classes, their order and counts are the same, times nearly. */
    @ParameterizedTest
    @Rows("jdks")
    void monitorsAreThoseOfTheFlightRecorder(Jdk jdk) {
        Path file = folder.resolve("monitors.txt");
        Path recording = folder.resolve("monitors.jfr");
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-XX:StartFlightRecording=settings=" + FlightRecording.monitors(folder)
                + ",filename=" + recording + ",dumponexit=true").agent("monitor=y,cutoff=0,file=" + file)
                .classPath(Tools.jar("h2-")).run(Pool.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        FlightRecording theirs = new FlightRecording(recording);
        MonitorReport ours = new MonitorReport(file);
        for (Class<?> type : List.of(Pool.Reports.class, Pool.Journal.class)) {
            String name = type.getName();
            assertTrue(theirs.waits.getOrDefault(name, 0L) > 5, theirs.waits::toString);
            assertEquals(theirs.waits.get(name), ours.waitsByClass().get(name), name);
        }
        Map<String, Double> expected = application(theirs.waitedMillis);
        Map<String, Double> told = application(ours.millisByClass());
        Stream.of(expected, told).flatMap(all -> all.keySet().stream()).distinct().forEach(name -> {
            double millis = expected.getOrDefault(name, 0.0);
            double ofWaits = Math.min(theirs.waits.getOrDefault(name, 0L) * OWN_MILLIS_PER_WAIT, MOST_MILLIS_OF_WAITS);
            double most = millis * OWN_SHARE + OWN_MILLIS + ofWaits;
            assertEquals(millis, told.getOrDefault(name, 0.0), most, () -> name + ": " + expected + " " + ours.rows);
        });
        assertEquals(first(expected), first(told));
    }

    /** The monitors, but for those of JFR itself. */
    private static Map<String, Double> application(Map<String, Double> millis) {
        return millis.entrySet().stream().filter(entry -> !entry.getKey().startsWith("jdk.jfr."))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    private static String first(Map<String, Double> millis) {
        return millis.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow().getKey();
    }
}
