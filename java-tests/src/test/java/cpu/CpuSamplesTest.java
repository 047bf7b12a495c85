package cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Command;
import harness.CpuStacks;
import harness.HprofCheck;
import harness.Javac;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Tools;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;

/** cpu=samples: threads are seen as often as they run, and not at all while they wait. */
@Isolated("measures shares of processor time")
class CpuSamplesTest {
    /** A share may be so far from what the program itself has measured. */
    private static final double POINTS = 3;
    /** Tenths of a second that the program computes. */
    private static final String TENTHS = "40";

    @TempDir Path folder;

    static List<Jdk> majors() {
        return Jdks.majors();
    }

    static List<Jdk> since21() {
        return Jdks.since(21);
    }

    @ParameterizedTest
    @Rows("majors")
    void threeMethodsHaveTheirSharesAndWhoWaitsHasNone(Jdk jdk) throws IOException {
        Path report = folder.resolve("cpu.txt");
        try (Jvm jvm = Jvm.on(jdk, folder).agent("cpu=samples,interval=1,cutoff=0,file=" + report).run(Mix.class, TENTHS).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(Files.readString(report).startsWith("JAVA PROFILE 1.0.1, created "));
            sharesAreRight(jvm, report, 1_000_000);
        }
    }

    private static void sharesAreRight(Jvm jvm, Path report, long intervalNs) {
        Map<String, Long> took = took(jvm);
        CpuStacks stacks = new CpuStacks(report);
        Map<String, Long> seen = new HashMap<>();
        took.keySet().forEach(method -> seen.put(method, stacks.in(method)));
        nearlyAlike(took, seen);
        double counted = sum(seen) * (double) intervalNs / sum(took);
        assertTrue(0.9 < counted && counted < 1.1, counted + " of the time is counted: " + seen + " for " + took);
        // The program itself is most of what runs, and the thread in accept() runs only on its way there.
        assertTrue(sum(seen) > 0.7 * stacks.total(), stacks::toString);
        assertTrue(stacks.in("cpu.Mix.waitInNative") < 0.02 * stacks.total(), stacks::toString);
    }

    @ParameterizedTest
    @Rows("since21")
    void virtualThreadsAreSeenWithTheirOwnStacks(Jdk jdk) {
        Path report = folder.resolve("cpu.txt");
        try (Jvm jvm = Jvm.on(jdk, folder).agent("cpu=samples,interval=1,file=" + report)
                .classPath(Javac.subjects(21)).run("cpu.VirtualMix").ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        CpuStacks stacks = new CpuStacks(report);
        assertTrue(stacks.in("cpu.VirtualMix.compute") > 0.7 * stacks.total(), stacks::toString);
    }

    @Test
    void threadsAreKeptApart() throws IOException {
        Path report = folder.resolve("cpu.txt");
        Map<String, Long> took;
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder)
                .agent("cpu=samples,thread=y,interval=1,cutoff=0,file=" + report).run(TwoThreads.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            took = took(jvm);
        }
        Map<String, Long> seen = samplesByThread(Files.readAllLines(report));
        seen.keySet().retainAll(took.keySet());
        nearlyAlike(took, seen);
    }

    /** A TRACE of a binary report has a thread's number: the file names the thread, and that it has ended. */
    @Test
    void binaryReportsNameTheThreadsOfTheirStacks() throws IOException {
        Path report = folder.resolve("cpu.hprof");
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder)
                .agent("cpu=samples,thread=y,interval=1,file=" + report).run(TwoThreads.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(report));
        file.position("JAVA PROFILE 1.0.2\0".length() + Integer.BYTES + Long.BYTES);
        Map<Long, String> strings = new HashMap<>();
        Map<Integer, String> started = new HashMap<>();
        Set<Integer> traced = new TreeSet<>();
        Set<String> ended = new TreeSet<>();
        while (file.hasRemaining()) {
            int tag = file.get();
            file.getInt();
            byte[] bytes = new byte[file.getInt()];
            file.get(bytes);
            ByteBuffer record = ByteBuffer.wrap(bytes);
            switch (tag) {
                case 0x01: strings.put(record.getLong(), new String(bytes, 8, bytes.length - 8, StandardCharsets.UTF_8)); break;
                case 0x05: traced.add(record.getInt(4)); break;
                case 0x0A: started.put(record.getInt(), strings.get(record.getLong(16))); break;
                case 0x0B: ended.add(started.get(record.getInt())); break;
                default: break;
            }
        }
        traced.remove(0);                            // the empty trace is nobody's
        assertEquals(started.keySet(), traced);
        assertTrue(started.values().containsAll(Set.of("three times", "once")), started::toString);
        assertTrue(ended.containsAll(Set.of("three times", "once")), ended::toString);
        assertFalse(Command.run(Tools.command(), "check", report).out.contains("thread-missing"));
    }

    /** Samples by the name of the thread, of a text report. */
    private static Map<String, Long> samplesByThread(List<String> lines) {
        Pattern start = Pattern.compile("THREAD START \\(obj=\\w+, id = (\\d+), name=\"([^\"]*)\".*");
        Pattern trace = Pattern.compile("TRACE (\\d+): \\(thread=(\\d+)\\)");
        Pattern row = Pattern.compile(" *\\d+ +[\\d.]+% +[\\d.]+% +(\\d+) +(\\d+) .*");
        Map<String, String> names = new HashMap<>();
        Map<String, String> owners = new HashMap<>();
        Map<String, Long> samples = new HashMap<>();
        for (String line : lines) {
            Matcher started = start.matcher(line);
            Matcher traced = trace.matcher(line);
            Matcher counted = row.matcher(line);
            if (started.matches()) {
                names.put(started.group(1), started.group(2).replace(' ', '_'));
            } else if (traced.matches()) {
                owners.put(traced.group(1), names.get(traced.group(2)));
            } else if (counted.matches()) {
                samples.merge(owners.get(counted.group(2)), Long.parseLong(counted.group(1)), Long::sum);
            }
        }
        return samples;
    }

    @Test
    void eachReportBeginsAnew() {
        Path report = folder.resolve("cpu.txt");
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).agent("cpu=samples,interval=1,file=" + report).run(TwoPhases.class).ready()) {
            jvm.signal("QUIT");
            jvm.err.await("hprof-rs: wrote " + report, Jvm.LIMIT);
            jvm.say("on").out.await("SECOND", Jvm.LIMIT);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        CpuStacks first = new CpuStacks(report);
        assertTrue(first.in("cpu.TwoPhases.first") > 0 && first.in("cpu.TwoPhases.second") == 0, first::toString);
        CpuStacks second = new CpuStacks(folder.resolve("cpu.1.txt"));
        assertTrue(second.in("cpu.TwoPhases.first") == 0 && second.in("cpu.TwoPhases.second") > 0, second::toString);
    }

    @Test
    void samplesGoIntoADumpAndIntoABinaryReport() {
        for (String options : List.of("heap=dump,cpu=samples", "heap=all,thread=y,cpu=samples", "cpu=samples,format=b")) {
            Path file = folder.resolve(options.replaceAll("\\W", "-") + ".hprof");
            try (Jvm jvm = Jvm.on(Jdks.of(21), folder).agent(options + ",interval=1,file=" + file).run(TwoPhases.class).ready()) {
                jvm.say("on").out.await("SECOND", Jvm.LIMIT);
                assertEquals(0, jvm.end(), jvm.err::text);
            }
            CpuStacks stacks = new CpuStacks(file);
            assertTrue(stacks.in("cpu.TwoPhases.first") > 0 && stacks.in("cpu.TwoPhases.second") > 0, stacks::toString);
            new HprofCheck(file).good();
        }
    }

    @Test
    void aJvmThatRunsIsNotSampled() {
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).run(TwoPhases.class).ready()) {
            Command refused = jvm.attach("cpu=samples,file=" + folder.resolve("cpu.txt"));
            assertTrue(refused.out.contains("return code: 100"), refused::toString);
            jvm.err.await("hprof-rs: cpu=samples needs the start of the JVM", Jvm.LIMIT);
            assertFalse(Files.exists(folder.resolve("cpu.txt")));
        }
    }

    /** The times of its parts that a program prints. */
    private static Map<String, Long> took(Jvm jvm) {
        return jvm.out.numbers("TOOK");
    }

    private static long sum(Map<String, Long> parts) {
        return parts.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Each part has nearly the same share of its sum in both. */
    private static void nearlyAlike(Map<String, Long> truth, Map<String, Long> found) {
        for (String part : truth.keySet()) {
            double expected = 100.0 * truth.get(part) / sum(truth);
            double share = 100.0 * found.getOrDefault(part, 0L) / sum(found);
            assertTrue(Math.abs(share - expected) <= POINTS, part + ": " + share + " instead of " + expected + ": " + found);
        }
    }
}
