package net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Beside;
import harness.DumpStream;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Peer;
import harness.Rows;
import harness.SiteList;
import harness.Testimony;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lifecycle.Patient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;

/** The commands that come through the socket: each is done, or answered by a line. */
class CommandsTest {
    private static final int FORCE_GC = 1;
    private static final int HEAP_DUMP = 2;
    private static final int ALLOC_SITES = 3;
    private static final int HEAP_SUMMARY = 4;
    private static final int EXIT = 5;
    private static final int DUMP_TRACES = 6;
    private static final int CPU_SAMPLES = 7;
    private static final int CONTROL = 8;
    /** Of records. */
    private static final int TRACE = 0x05;
    private static final int SITES = 0x06;
    private static final int SUMMARY = 0x07;
    private static final int SEGMENT = 0x1C;

    @TempDir Path folder;

    static List<Jdk> majors() {
        return Jdks.majors();
    }

    static List<Jdk> since11() {
        return Jdks.since(11);
    }

    @ParameterizedTest
    @Beside
    @Rows("since11")
    void binaryAnswers(Jdk jdk) {
        try (Peer peer = Peer.listen(); Jvm jvm = Jvm.on(jdk, folder)
                .agent("heap=all,doe=n,sampling=64k," + peer.option()).run(Busy.class)) {
            peer.accept().collect();
            jvm.ready().say("more").out.await("COUNT more", Jvm.LIMIT);
            peer.command(HEAP_DUMP);
            jvm.dumped(1);
            // The cutoff 0.4, as IEEE 754 has it: of the sites two at most are left.
            peer.command(ALLOC_SITES, 0, 2 | 4, 0x3E, 0xCC, 0xCC, 0xCD);
            peer.command(ALLOC_SITES, 0, 0, 0, 0, 0, 0);
            peer.command(HEAP_SUMMARY).command(DUMP_TRACES);
            wrote(jvm, 4);
            assertEquals(0, jvm.end(), jvm.err::text);
            List<DumpStream.Part> parts = new DumpStream(peer.all(), folder).parts;
            assertEquals(5, parts.size());
            Testimony.of(jvm).mustHoldIn(parts.get(0).file);
            // Of the others there is neither a heap nor a profile, as the check misses.
            parts.subList(1, 3).forEach(part -> new HprofCheck(part.file).good());
            assertTrue(parts.get(0).tags.containsAll(Set.of(SEGMENT, SITES)), () -> "" + parts.get(0).tags);
            List<SiteList.Site> few = new SiteList(parts.get(1).file, "sites").sites;
            List<SiteList.Site> all = new SiteList(parts.get(2).file, "sites").sites;
            assertTrue(!few.isEmpty() && few.size() <= 2 && few.size() < all.size(), few + " of " + all);
            assertEquals(tags(SITES, SUMMARY), profileTags(parts.get(2)));
            assertEquals(tags(SUMMARY), profileTags(parts.get(3)));
            assertEquals(tags(), profileTags(parts.get(4)));
            assertTrue(parts.get(4).tags.contains(TRACE), () -> "" + parts.get(4).tags);
        }
    }

    @Test
    @Beside
    void textAnswers() {
        try (Peer peer = Peer.listen(); Jvm jvm = Jvm.on(Jdks.of(17), folder)
                .agent("heap=sites,doe=n,sampling=64k," + peer.option()).run(Busy.class)) {
            peer.accept().collect();
            jvm.ready().say("more").out.await("COUNT more", Jvm.LIMIT);
            peer.command(DUMP_TRACES);
            wrote(jvm, 1);
            peer.command(ALLOC_SITES, 0, 3, 0, 0, 0, 0);
            wrote(jvm, 2);
            peer.command(HEAP_SUMMARY).command(HEAP_DUMP);
            jvm.dumped(1);
            ignored(jvm, "the command heap summary is ignored: it has no form as text");
            assertEquals(0, jvm.end(), jvm.err::text);
            String[] parts = new String(peer.all(), StandardCharsets.UTF_8).split("JAVA PROFILE 1\\.0\\.1, created ");
            assertEquals(4, parts.length, "traces, sites and heap, with nothing before them");
            assertTrue(parts[1].contains("\tnet.Busy.more(Busy.java:") && !parts[1].contains("SITES BEGIN ("), parts[1]);
            assertTrue(parts[2].contains("SITES BEGIN (ordered by allocated bytes)"), parts[2]);
            assertTrue(parts[3].contains("HEAP DUMP BEGIN") && parts[3].contains("net.Busy"), "a heap dump");
        }
    }

    @ParameterizedTest
    @Beside
    @Rows("majors")
    void garbageIsCollected(Jdk jdk) {
        try (Peer peer = Peer.listen(); Jvm jvm = Jvm.on(jdk, folder).switches("-verbose:gc")
                .agent("heap=dump,doe=n," + peer.option()).run(Patient.class)) {
            peer.accept().collect();
            jvm.ready();
            peer.command(FORCE_GC);
            jvm.out.await(1, "a collection", line -> line.contains("JvmtiEnv ForceGarbageCollection"), Jvm.LIMIT);
            assertEquals(0, jvm.end(), jvm.err::text);
            assertEquals(0, peer.all().length);
        }
    }

    @ParameterizedTest
    @Beside
    @Rows("majors")
    void whatCannotBeDoneIsAnsweredByALine(Jdk jdk) {
        try (Peer peer = Peer.listen(); Jvm jvm = Jvm.on(jdk, folder)
                .agent("cpu=times,doe=n,include=net.*," + peer.option()).run(Busy.class)) {
            peer.accept().collect();
            jvm.ready();
            peer.command(0x77, 1, 2, 3).command(0).command(FORCE_GC, 9).command(CONTROL, 0, 9);
            ignored(jvm, "the command 0x77 with 3 bytes is ignored: there is no such command");
            ignored(jvm, "the command 0x00 with 0 bytes is ignored: there is no such command");
            ignored(jvm, "the command 0x01 with 1 bytes is ignored: its length is not that of this command");
            ignored(jvm, "the command 0x08 with 2 bytes is ignored: there is no such control");
            peer.command(ALLOC_SITES, 0, 0, 0, 0, 0, 0).command(HEAP_SUMMARY).command(CPU_SAMPLES, 0, 0, 0, 0, 0, 0);
            ignored(jvm, "the command allocation sites is ignored: no allocations are recorded");
            ignored(jvm, "the command heap summary is ignored: no allocations are recorded");
            ignored(jvm, "the command CPU samples is ignored: ");
            peer.command(CONTROL, 0, 1).command(CONTROL, 0, 2).command(CONTROL, 0, 3, 0, 0, 0, 0);
            ignored(jvm, "the command allocations on is ignored: no allocations are recorded");
            ignored(jvm, "the command allocations off is ignored: no allocations are recorded");
            ignored(jvm, "the command sampling on is ignored: there are no CPU samples; start the JVM with cpu=samples");
            peer.command(CONTROL, 0, 6).command(CONTROL, 0, 7, 0, 9).command(CONTROL, 0, 5);
            ignored(jvm, "the command clear sites is ignored: no allocations are recorded");
            ignored(jvm, "the command depth is ignored: with cpu=times the depth cannot change");
            assertEquals(0, jvm.end(), jvm.err::text);
            assertFalse(jvm.err.text().contains("clear CPU costs is ignored"), jvm.err::text);
            assertEquals(0, peer.all().length);
        }
    }

    static Stream<Arguments> samplings() {
        // Exact counts are there on every Java, samples since 11.
        return Stream.concat(since11().stream().map(jdk -> Arguments.of(jdk, "sampling=64k")),
                majors().stream().map(jdk -> Arguments.of(jdk, "sampling=0")));
    }

    @ParameterizedTest
    @Beside
    @Rows("samplings")
    void theMeasuringIsControlled(Jdk jdk, String sampling) {
        try (Peer peer = Peer.listen(); Jvm jvm = Jvm.on(jdk, folder)
                .agent("heap=sites,format=b,doe=n," + sampling + "," + peer.option()).run(Busy.class)) {
            peer.accept().collect();
            jvm.ready();
            more(jvm, 1);
            sites(peer);
            peer.command(CONTROL, 0, 6);
            sites(peer);
            peer.command(CONTROL, 0, 2);
            done(peer, jvm, 0x70);
            more(jvm, 2);
            sites(peer);
            peer.command(CONTROL, 0, 1).command(CONTROL, 0, 7, 0, 1);
            done(peer, jvm, 0x71);
            more(jvm, 3);
            sites(peer);
            wrote(jvm, 4);
            assertEquals(0, jvm.end(), jvm.err::text);
            List<List<Integer>> depths = new DumpStream(peer.all(), folder).parts.stream()
                    .map(part -> depthsOfMore(part.file)).collect(Collectors.toList());
            assertEquals(List.of(List.of(2), List.of(), List.of(), List.of(1)), depths,
                    "frames of the site: there, cleared, switched off, on again and less deep");
        }
    }

    @ParameterizedTest
    @Beside
    @Rows("majors")
    void theSamplingIsControlled(Jdk jdk) {
        try (Peer peer = Peer.listen(); Jvm jvm = Jvm.on(jdk, folder)
                .agent("interval=1,doe=n,cpu=samples," + peer.option()).run(Busy.class)) {
            peer.accept().collect();
            jvm.ready();
            work(jvm, 1);
            peer.command(CONTROL, 0, 4, 0, 0, 0, 9).command(CONTROL, 0, 4, 0, 0, 0, 0);
            ignored(jvm, "the command sampling off is ignored: thread 0x9 is a four-byte id");
            samples(peer);
            wrote(jvm, 1);
            work(jvm, 2);
            samples(peer);
            wrote(jvm, 2);
            peer.command(CONTROL, 0, 3, 0, 0, 0, 0);
            done(peer, jvm, 0x70);
            work(jvm, 3);
            samples(peer);
            wrote(jvm, 3);
            assertEquals(0, jvm.end(), jvm.err::text);
            String[] parts = new String(peer.all(), StandardCharsets.UTF_8).split("JAVA PROFILE 1\\.0\\.1, created ");
            assertEquals(4, parts.length, "three reports, with nothing before them");
            for (int sampled : new int[] {1, 3}) {
                assertTrue(total(parts[sampled]) >= Busy.WORK_MILLIS / 2 && parts[sampled].contains("\tnet.Busy.work("), parts[sampled]);
            }
            // A handler may have been about to note a sample, of some milliseconds, when it was switched off.
            assertTrue(total(parts[2]) < Busy.WORK_MILLIS / 10, parts[2]);
            List<String> manners = jvm.err.lines().stream().filter(line -> line.startsWith("hprof-rs: wrote "))
                    .collect(Collectors.toList());
            assertEquals(List.of(true, true, false), manners.stream().map(line -> line.contains("switched off now"))
                    .collect(Collectors.toList()), manners::toString);
        }
    }

    private static void work(Jvm jvm, int time) {
        jvm.say("work").out.await(time, "work", line -> line.startsWith("COUNT work"), Jvm.LIMIT);
    }

    private static void samples(Peer peer) {
        peer.command(CPU_SAMPLES, 0, 0, 0, 0, 0, 0);
    }

    /** The samples of a report as text. */
    private static int total(String report) {
        Matcher total = Pattern.compile("CPU SAMPLES BEGIN \\(total = (\\d+)\\)").matcher(report);
        assertTrue(total.find(), report);
        return Integer.parseInt(total.group(1));
    }

    @ParameterizedTest
    @Beside
    @Rows("majors")
    void exitEndsTheConnectionAndNotTheProgram(Jdk jdk) {
        try (Peer peer = Peer.listen();
                Jvm jvm = Jvm.on(jdk, folder).agent("heap=dump," + peer.option()).run(Patient.class)) {
            peer.accept().collect();
            jvm.ready();
            peer.command(HEAP_DUMP).command(EXIT);
            ignored(jvm, "the command exit ends the connection to 127.0.0.1:" + peer.port() + ", never this process");
            List<DumpStream.Part> parts = new DumpStream(peer.all(), folder).parts;
            assertEquals(1, parts.size(), "what was asked for before is there");
            Testimony.of(jvm).mustHoldIn(parts.get(0).file);
            jvm.say("alive?").out.await("ECHO alive?", Jvm.LIMIT);
            assertEquals(0, jvm.end(), jvm.err::text);
            ignored(jvm, "no dump: the connection to 127.0.0.1:" + peer.port() + " is closed: the peer asked for it");
        }
    }

    @ParameterizedTest
    @Beside
    @Rows("since11")
    void halfACommandAndTheEndOfAllEndTheListenerAlone(Jdk jdk) {
        try (Peer peer = Peer.listen();
                Jvm jvm = Jvm.on(jdk, folder).agent("heap=dump," + peer.option()).run(Patient.class)) {
            peer.accept().collect();
            jvm.ready();
            assertTrue(threads(jvm).contains("HPROF listener thread"));
            peer.send(HEAP_DUMP, 0, 0).endCommands();
            ignored(jvm, "3 bytes of a command are ignored: the connection has ended before the rest");
            while (threads(jvm).contains("HPROF listener thread")) {
                jvm.say("alive?").out.await("ECHO alive?", Jvm.LIMIT);
            }
            assertEquals(0, jvm.end(), jvm.err::text);
            Testimony.of(jvm).mustHoldIn(new DumpStream(peer.all(), folder).parts.get(0).file);
        }
    }

    @Test
    @Beside
    void halfACommandAndABrokenConnection() {
        try (Peer peer = Peer.listen();
                Jvm jvm = Jvm.on(Jdks.of(17), folder).agent("heap=dump," + peer.option()).run(Patient.class)) {
            peer.accept();
            jvm.ready();
            peer.send(HEAP_DUMP, 0, 0).reset();
            jvm.say("alive?").out.await("ECHO alive?", Jvm.LIMIT);
            assertEquals(0, jvm.end(), jvm.err::text);
            ignored(jvm, "no dump: the connection to 127.0.0.1:" + peer.port() + " is closed: ");
        }
    }

    @Test
    @Beside
    void aLengthBeyondReasonEndsTheConnection() {
        try (Peer peer = Peer.listen();
                Jvm jvm = Jvm.on(Jdks.of(17), folder).agent("heap=dump,doe=n," + peer.option()).run(Patient.class)) {
            peer.accept().collect();
            jvm.ready();
            peer.command(HEAP_DUMP, 0x7FFFFFFF, new byte[0]);
            ignored(jvm, "the connection to 127.0.0.1:" + peer.port() + " is closed: the peer sent command 0x02 with 2147483647 bytes, which no command has");
            assertEquals(0, peer.all().length);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /** The frames of each site of the method that allocates. */
    private static List<Integer> depthsOfMore(Path file) {
        return new SiteList(file, "sites").sites.stream().filter(site -> site.toString().contains("[net.Busy.more("))
                .map(site -> site.frames.size()).collect(Collectors.toList());
    }

    private static void more(Jvm jvm, int time) {
        jvm.say("more").out.await(time, "more", line -> line.startsWith("COUNT more"), Jvm.LIMIT);
    }

    private static void sites(Peer peer) {
        peer.command(ALLOC_SITES, 0, 2, 0, 0, 0, 0);
    }

    /** What was sent before is done once a command is answered that there is not. */
    private static void done(Peer peer, Jvm jvm, int tag) {
        peer.command(tag);
        ignored(jvm, "the command 0x" + Integer.toHexString(tag) + " with 0 bytes is ignored");
    }

    private static void wrote(Jvm jvm, int count) {
        jvm.err.await(count, "word of a report", line -> line.startsWith("hprof-rs: wrote 127.0.0.1:"), Jvm.LIMIT);
    }

    private static void ignored(Jvm jvm, String line) {
        jvm.err.await("hprof-rs: " + line, Jvm.LIMIT);
    }

    private static String threads(Jvm jvm) {
        return jvm.jcmd("Thread.print").good().out;
    }

    private static Set<Integer> tags(Integer... tags) {
        return Set.of(tags);
    }

    private static Set<Integer> profileTags(DumpStream.Part part) {
        return part.tags.stream().filter(tags(SITES, SUMMARY)::contains).collect(Collectors.toSet());
    }
}
