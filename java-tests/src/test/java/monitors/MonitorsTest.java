package monitors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Command;
import harness.Folder;
import harness.Javac;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.MonitorReport;
import harness.Rows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import lifecycle.Patient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;

/** Contention and waits are those that the program measures itself; owners and waiters are who they are. */
@Isolated("measures times of waiting")
class MonitorsTest {
    /** Between the readings of the clock by the program and by the agent a thread may lose the processor. */
    private static final double OWN_MILLIS = 50;
    private static final double OWN_SHARE = 0.1;
    private static final double OWN_MILLIS_PER_WAIT = 0.5;
    private static final String SITE = "monitors.Contending.";

    @TempDir Path folder;

    static List<Jdk> since21() {
        return Jdks.since(21);
    }

    @ParameterizedTest
    @Rows("harness.Jdks#majors")
    void contentionIsWhatTheProgramMeasuresAndBeginsAnew(Jdk jdk) {
        Path report = folder.resolve("monitors.txt");
        try (Jvm jvm = Jvm.on(jdk, folder).agent("monitor=y,file=" + report).run(Contending.class).ready()) {
            signal(jvm, report);
            int first = jvm.out.lines().size();
            jvm.say("again");
            jvm.out.await(2, "READY", "READY"::equals, Jvm.LIMIT);
            assertEquals(0, jvm.end(), jvm.err::text);
            List<String> said = jvm.out.lines();
            mustHold(new MonitorReport(report), said.subList(0, first));
            mustHold(new MonitorReport(folder.resolve("monitors.1.txt")), said.subList(first, said.size()));
            assertEquals(Set.of(), new Folder(folder).dumps(), "monitor=y alone makes no heap dump");
        }
    }

    private static void mustHold(MonitorReport report, List<String> said) {
        Map<String, String> methods = Map.of("First", "first", "Second", "second", "Third", "third");
        int sites = 0;
        for (String line : said) {
            String[] words = line.split(" ");
            if (!words[0].equals("WAITED")) {
                continue;
            }
            MonitorReport.Row row = report.row(words[1]);
            sites++;
            assertEquals(Long.parseLong(words[2]), row.count, row::toString);
            near(Long.parseLong(words[3]) / 1e6, report.millis(row), row.count, row.toString());
            String method = methods.get(words[1].substring(words[1].indexOf('$') + 1));
            assertTrue(row.frames.get(0).startsWith(SITE + method + "(Contending.java:"), row::toString);
        }
        assertEquals(3, sites);
        List<Double> millis = report.rows.stream().map(report::millis).collect(Collectors.toList());
        for (int i = 1; i < millis.size(); i++) {
            // Percentages are rounded.
            assertTrue(millis.get(i - 1) + 1 >= millis.get(i), millis::toString);
        }
    }

    private static void near(double measuredMillis, double toldMillis, long waits, String what) {
        double most = measuredMillis * OWN_SHARE + OWN_MILLIS + waits * OWN_MILLIS_PER_WAIT;
        assertTrue(Math.abs(measuredMillis - toldMillis) <= most,
                what + ": reported " + toldMillis + " ms, the program measured " + measuredMillis);
    }

    private static void signal(Jvm jvm, Path report) {
        jvm.signal("QUIT");
        jvm.err.await("hprof-rs: wrote " + report, Jvm.LIMIT);
    }

    @ParameterizedTest
    @Rows("harness.Jdks#majors")
    void ownersAndWaitersOfADeadlockAreNamed(Jdk jdk) {
        Path file = folder.resolve("monitors.txt");
        try (Jvm jvm = Jvm.on(jdk, folder).agent("monitor=y,doe=n,file=" + file).run(Deadlock.class).ready()) {
            signal(jvm, file);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        MonitorReport report = new MonitorReport(file);
        owned(report.monitor("Lmonitors/Deadlock$Left;"), "one", 2, Set.of("two", "three"));
        owned(report.monitor("Lmonitors/Deadlock$Right;"), "two", 1, Set.of("one"));
        MonitorReport.Monitor bell = report.monitor("Lmonitors/Deadlock$Bell;");
        owned(bell, "", 0, Set.of());
        assertEquals(Set.of("waiter"), bell.waiting);
        for (String name : List.of("one", "two", "three")) {
            MonitorReport.State state = report.states(name).get(0);
            assertEquals("MW", state.status, name);
            assertTrue(state.frames.get(0).startsWith("monitors.Deadlock.enter("), state.frames::toString);
        }
        assertEquals("CW", report.states("waiter").get(0).status.replace("native|", ""));
        assertEquals(1, report.states("main").size());
    }

    private static void owned(MonitorReport.Monitor monitor, String owner, int entries, Set<String> entering) {
        assertEquals(owner, monitor.owner, monitor::toString);
        assertEquals(entries, monitor.entries, monitor::toString);
        assertEquals(entering, monitor.entering, monitor::toString);
    }

    @ParameterizedTest
    @Rows("harness.Jdks#majors")
    void waitsAreToldInOrder(Jdk jdk) {
        Path file = folder.resolve("monitors.txt");
        try (Jvm jvm = Jvm.on(jdk, folder).agent("monitor=y,file=" + file).run(Waiting.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            MonitorReport report = new MonitorReport(file);
            List<String> waits = report.waits.stream().filter(line -> line.endsWith(", waiter")).collect(Collectors.toList());
            List<String> told = jvm.out.lines().stream().filter(line -> line.startsWith("WAITED")).collect(Collectors.toList());
            assertEquals(4, waits.size(), waits::toString);
            for (int i = 0; i < 2; i++) {
                String[] words = told.get(i).split(" ");
                String monitor = "MONITOR Lmonitors/Waiting$Bell;, ";
                assertEquals("WAIT: " + monitor + "timeout=" + words[1] + ", waiter", waits.get(2 * i));
                String start = "WAITED: " + monitor + "time_waited=";
                assertTrue(waits.get(2 * i + 1).startsWith(start), waits::toString);
                long millis = Long.parseLong(waits.get(2 * i + 1).substring(start.length()).split(",")[0]);
                near(Long.parseLong(words[2]) / 1e6, millis, 1, told.get(i));
                assertTrue(millis >= (i == 0 ? Waiting.KEPT_MILLIS : 29), waits::toString);
            }
            // What is waited to be notified is no contention.
            assertTrue(report.rows.stream().flatMap(row -> row.frames.stream())
                    .noneMatch(frame -> frame.startsWith("monitors.Waiting.say(")), () -> report.rows.toString());
        }
    }

    @ParameterizedTest
    @Rows("since21")
    void virtualThreadsAreCountedAndListed(Jdk jdk) {
        Path file = folder.resolve("monitors.txt");
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-Djdk.virtualThreadScheduler.parallelism=12")
                .agent("monitor=y,file=" + file).classPath(Javac.subjects(21)).run("monitors.VirtualContending").ready()) {
            signal(jvm, file);
            jvm.say("on");
            jvm.out.await(2, "READY", "READY"::equals, Jvm.LIMIT);
            assertEquals(0, jvm.end(), jvm.err::text);
            MonitorReport during = new MonitorReport(file);
            assertEquals(8, during.states("virtual").stream().filter(state -> state.status.equals("MW")
                    && state.frames.get(0).startsWith("monitors.VirtualContending.enter(")).count());
            MonitorReport.State waiter = during.states("waiter").get(0);
            assertEquals("CW", waiter.status);
            assertTrue(waiter.frames.stream().anyMatch(frame -> frame.startsWith("monitors.VirtualContending.await(")));
            owned(during.monitor("Lmonitors/VirtualContending$Lock;"), "main", 1, Set.of("virtual"));
            assertEquals(Set.of("waiter"), during.monitor("Lmonitors/VirtualContending$Bell;").waiting);
            String[] words = jvm.out.await("WAITED", Jvm.LIMIT).split(" ");
            MonitorReport after = new MonitorReport(folder.resolve("monitors.1.txt"));
            MonitorReport.Row row = after.row(words[1]);
            assertEquals(8, row.count);
            near(Long.parseLong(words[3]) / 1e6, after.millis(row), row.count, row.toString());
        }
    }

    /** The JVM's own profiler sees the same contention. */
    @Test
    void flightRecorderAgrees() throws IOException {
        Path file = folder.resolve("monitors.txt");
        Path recording = folder.resolve("recording.jfr");
        Path settings = Files.write(folder.resolve("monitors.jfc"), List.of("<?xml version='1.0' encoding='UTF-8'?>",
                "<configuration version='2.0'><event name='jdk.JavaMonitorEnter'><setting name='enabled'>true</setting>",
                "<setting name='threshold'>0 ns</setting></event></configuration>"));
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder)
                .switches("-XX:StartFlightRecording=settings=" + settings + ",filename=" + recording + ",dumponexit=true")
                .agent("monitor=y,file=" + file).run(Contending.class).ready()) {
            jvm.say("again");
            jvm.out.await(2, "READY", "READY"::equals, Jvm.LIMIT);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        Map<String, Double> millis = new HashMap<>();
        Map<String, Long> counts = new HashMap<>();
        for (RecordedEvent event : RecordingFile.readAllEvents(recording)) {
            if (event.getEventType().getName().equals("jdk.JavaMonitorEnter")) {
                String className = event.getClass("monitorClass").getName();
                millis.merge(className, event.getDuration().toNanos() / 1e6, Double::sum);
                counts.merge(className, 1L, Long::sum);
            }
        }
        MonitorReport report = new MonitorReport(file);
        String most = millis.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow().getKey();
        assertEquals(most, report.rows.get(0).className);
        for (String name : List.of("First", "Second", "Third")) {
            MonitorReport.Row row = report.row("monitors.Contending$" + name);
            assertEquals(counts.get(row.className), row.count, row::toString);
            near(millis.get(row.className), report.millis(row), row.count, row.toString());
        }
    }

    @ParameterizedTest
    @Rows("harness.Jdks#majors")
    void aCrowdThatLoadsClassesIsWell(Jdk jdk) {
        Path file = folder.resolve("monitors.txt");
        try (Jvm jvm = Jvm.on(jdk, folder).agent("monitor=y,thread=y,file=" + file).run(Crowd.class).ready()) {
            for (int i = 1; i <= 5; i++) {
                jvm.signal("QUIT");
                jvm.err.await(i, "word of report " + i, line -> line.startsWith("hprof-rs: wrote "), Jvm.LIMIT);
            }
            assertEquals(0, jvm.end(), jvm.err::text);
            String[] turns = jvm.out.await("TURNS", Jvm.LIMIT).split(" ");
            assertEquals(turns[1], turns[2]);
        }
        for (int i = 0; i <= 5; i++) {
            MonitorReport report = new MonitorReport(folder.resolve(i == 0 ? "monitors.txt" : "monitors." + i + ".txt"));
            assertFalse(report.states.isEmpty());
            report.rows.forEach(row -> assertTrue(row.count > 0 && row.frames != null, row::toString));
            if (i == 1) {
                assertTrue(report.rows.stream().anyMatch(row -> row.frames.get(0).startsWith("monitors.Crowd.turn(")));
            }
        }
    }

    @Test
    void attachedToAJvmThatRunsItIsRefused() {
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).run(Patient.class).ready()) {
            Command command = jvm.attach("monitor=y,file=" + folder.resolve("monitors.txt"));
            assertTrue(command.out.contains("return code: 100"), command::toString);
            jvm.err.await("hprof-rs: monitor=y: monitors are watched from the start of the JVM only", Jvm.LIMIT);
            assertFalse(Files.exists(folder.resolve("monitors.txt")));
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }
}
