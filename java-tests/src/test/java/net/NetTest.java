package net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import harness.Beside;
import harness.Command;
import harness.DumpStream;
import harness.Folder;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Peer;
import harness.Rows;
import harness.Testimony;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import lifecycle.Patient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import sites.Leak;

/** What would go into files goes down a socket, and whatever the peer does, the program does not feel it. */
class NetTest {
    /** How long the agent waits for a peer that takes nothing (docs/classic-profiles.md). */
    private static final Duration SEND_LIMIT = Duration.ofSeconds(10);
    /** For everything else on two busy cores. */
    private static final Duration SLACK = Duration.ofSeconds(20);

    @TempDir Path folder;

    static List<Jdk> majors() {
        return Jdks.majors();
    }

    static List<Jdk> since11() {
        return Jdks.since(11);
    }

    static Stream<Arguments> engines() {
        return majors().stream().flatMap(jdk -> Stream.of(
                Arguments.of(jdk, "stop=auto", "engine snapshot"),
                Arguments.of(jdk, "stop=always", "engine hotspot")));
    }

    /** By signal and at the end, whole and one after the other; of the forked child's part, too. */
    @ParameterizedTest
    @Beside
    @Rows("engines")
    void dumpsOfEveryEngineArriveWhole(Jdk jdk, String option, String engine) {
        try (Peer peer = Peer.listen();
                Jvm jvm = Jvm.on(jdk, folder).agent("heap=dump," + option + "," + peer.option()).run(Patient.class)) {
            peer.accept().collect();
            jvm.ready().signal("QUIT");
            String line = jvm.dumped(1);
            assertTrue(line.contains("dumped 127.0.0.1:" + peer.port() + ": "), line);
            assertEquals(0, jvm.end(), jvm.err::text);
            // One of them may have had to be made in another way, as any dump may.
            assertTrue(line.contains(engine) || jvm.dumped(2).contains(engine), jvm.err::text);
            List<DumpStream.Part> parts = new DumpStream(peer.all(), folder).parts;
            assertEquals(2, parts.size());
            parts.forEach(part -> Testimony.of(jvm).mustHoldIn(part.file));
        }
    }

    @Test
    @Beside
    void compressedDumpsArriveWhole() throws IOException {
        for (String stop : List.of("auto", "always")) {
            try (Peer peer = Peer.listen();
                    Jvm jvm = Jvm.on(Jdks.of(17), folder).agent("heap=dump,gz=1,stop=" + stop + "," + peer.option())
                            .run(Patient.class)) {
                peer.accept().collect();
                assertEquals(0, jvm.ready().end(), jvm.err::text);
                Path dump = folder.resolve(stop + ".hprof");
                Files.write(dump, new GZIPInputStream(new ByteArrayInputStream(peer.all())).readAllBytes());
                Testimony.of(jvm).mustHoldIn(dump);
            }
        }
    }

    @ParameterizedTest
    @Beside
    @Rows("since11")
    void sitesAreText(Jdk jdk) {
        String text = textOf(jdk, "heap=sites,sampling=64k", Leak.class);
        assertTrue(text.startsWith("JAVA PROFILE 1.0.1, created "), text);
        assertTrue(text.contains("SITES BEGIN (ordered by live bytes)"), text);
        assertTrue(text.contains("\tsites.Leak.leak(Leak.java:"), text);
        assertTrue(text.endsWith("SITES END\n"), text);
    }

    @ParameterizedTest
    @Beside
    @Rows("majors")
    void timesAreText(Jdk jdk) {
        String text = textOf(jdk, "cpu=times,include=sites.*", Leak.class);
        assertTrue(text.contains("CPU TIME (ms) BEGIN"), text);
        assertTrue(text.endsWith("CPU TIME (ms) END\n"), text);
    }

    @Test
    @Beside
    void aHeapDumpMayBeText() {
        String text = textOf(Jdks.of(17), "heap=dump,format=a", Patient.class);
        assertTrue(text.startsWith("JAVA PROFILE 1.0.1, created "), text);
        assertTrue(text.contains("class=lifecycle.Patient@"), "three of them are there");
        assertTrue(text.endsWith("HEAP DUMP END\n"), text.substring(text.length() - 200));
    }

    private String textOf(Jdk jdk, String options, Class<?> subject) {
        try (Peer peer = Peer.listen();
                Jvm jvm = Jvm.on(jdk, folder).agent(options + "," + peer.option()).run(subject)) {
            peer.accept().collect();
            assertEquals(0, jvm.ready().end(), jvm.err::text);
            return new String(peer.all(), StandardCharsets.UTF_8);
        }
    }

    @Test
    @Beside
    void theLoopbackOfIpv6() throws IOException {
        InetAddress loopback = InetAddress.getByName("::1");
        boolean isThere = Files.exists(Path.of("/proc/net/if_inet6")) && !Files.readString(Path.of("/proc/net/if_inet6")).isEmpty();
        assumeTrue(isThere, "this machine has no IPv6");
        try (Peer peer = Peer.listen(loopback);
                Jvm jvm = Jvm.on(Jdks.of(17), folder).agent("heap=dump," + peer.option()).run(Patient.class)) {
            peer.accept().collect();
            assertEquals(0, jvm.ready().end(), jvm.err::text);
            Testimony.of(jvm).mustHoldIn(new DumpStream(peer.all(), folder).parts.get(0).file);
        }
    }

    @ParameterizedTest
    @Beside
    @Rows("majors")
    void nobodyThereIsOneLineAndNoMore(Jdk jdk) {
        String option;
        try (Peer gone = Peer.listen()) {
            option = gone.option();
        }
        try (Jvm plain = Jvm.on(jdk, folder).run(Patient.class).ready();
                Jvm jvm = Jvm.on(jdk, folder).agent("heap=dump," + option).run(Patient.class).ready()) {
            assertEquals(plain.end(), jvm.end(), jvm.err::text);
            assertEquals(plain.out.lines(), jvm.out.lines());
            List<String> said = agentLines(jvm);
            assertEquals(1, said.size(), jvm.err::text);
            assertTrue(said.get(0).contains("cannot connect to " + option.substring("net=".length())), said::toString);
            assertEquals(Set.of(), new Folder(folder).dumps());
        }
    }

    @Test
    @Beside
    void whoAsksForADumpIsToldThatThereIsNoConnection() {
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).agent("heap=dump,net=no.such.host.invalid:9").run(Patient.class).ready()) {
            jvm.signal("QUIT");
            jvm.err.await("hprof-rs: nothing is sent: there is no connection to no.such.host.invalid:9", Jvm.LIMIT);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    @ParameterizedTest
    @Beside
    @Rows("since11")
    void anAttachedAgentHasNoConnection(Jdk jdk) {
        try (Peer peer = Peer.listen(); Jvm jvm = Jvm.on(jdk, folder).run(Patient.class).ready()) {
            Command attached = jvm.attach("heap=dump," + peer.option());
            assertTrue(attached.out.contains("return code: 100"), attached::toString);
            jvm.err.await("hprof-rs: net=127.0.0.1:" + peer.port() + ": an attached agent has no connection", Jvm.LIMIT);
            assertEquals(0, jvm.end(), jvm.err::text);
            assertEquals(1, agentLines(jvm).size(), jvm.err::text);
        }
    }

    /** The waiting is ours, not the JVM's, and takes its time: two will do. */
    static List<Jdk> two() {
        return List.of(Jdks.of(8), Jdks.of(25));
    }

    @ParameterizedTest
    @Beside
    @Rows("two")
    void aPeerThatNeverReadsHoldsUpNothing(Jdk jdk) {
        try (Peer peer = Peer.listen();
                Jvm jvm = Jvm.on(jdk, folder).switches("-Xmx256m").agent("heap=dump," + peer.option()).run(Busy.class)) {
            peer.accept();
            jvm.ready().signal("QUIT");
            // The dump is on its way, and will not get there.
            peer.take(1);
            long first = count(jvm, "first");
            long second = count(jvm, "second");
            assertTrue(second > first, first + " " + second);
            assertFalse(jvm.err.text().contains("hprof-rs: no dump"), "while the dump is stuck the program ran");
            jvm.err.await(1, "word of the peer", line -> line.startsWith("hprof-rs: no dump: the connection to 127.0.0.1:"
                    + peer.port()) && line.contains("next to nothing for 10 s"), SEND_LIMIT.plus(SLACK));
            assertTrue(count(jvm, "third") > second);
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(jvm.out.text().contains("BYE"), jvm.out::text);
        }
    }

    @Test
    @Beside
    void anExitWaitsNoLongerThanThePeerIsGivenTime() {
        try (Peer peer = Peer.listen();
                Jvm jvm = Jvm.on(Jdks.of(21), folder).switches("-Xmx256m").agent("heap=dump," + peer.option()).run(Busy.class)) {
            peer.accept();
            jvm.ready().say("exit");
            peer.take(1);
            long began = System.nanoTime();
            assertEquals(0, jvm.exit(), jvm.err::text);
            Duration took = Duration.ofNanos(System.nanoTime() - began);
            assertTrue(took.compareTo(SEND_LIMIT.plus(SLACK)) < 0, took::toString);
            assertEquals(1, jvm.err.lines().stream().filter(line -> line.contains("hprof-rs: no dump")).count(), jvm.err::text);
        }
    }

    /** Fast enough for a JVM that runs, too slow for one that ends. */
    @Test
    @Beside
    void anExitDoesNotWaitForASlowPeer() {
        try (Peer peer = Peer.listen();
                Jvm jvm = Jvm.on(Jdks.of(17), folder).switches("-Xmx256m").agent("heap=dump," + peer.option()).run(Busy.class)) {
            peer.accept().dawdle(140_000);
            jvm.ready().say("exit");
            assertEquals(0, jvm.exit(), jvm.err::text);
            assertTrue(agentLines(jvm).contains("hprof-rs: no dump: the connection to 127.0.0.1:" + peer.port()
                    + " is closed: the JVM ends, and the peer takes less than 1 MiB a second; nothing more is sent"), jvm.err::text);
        }
    }

    @ParameterizedTest
    @Beside
    @Rows("majors")
    void aPeerThatResetsInMidDumpIsToldOf(Jdk jdk) {
        try (Peer peer = Peer.listen();
                Jvm jvm = Jvm.on(jdk, folder).switches("-Xmx256m").agent("heap=dump," + peer.option()).run(Busy.class)) {
            peer.accept();
            jvm.ready().signal("QUIT");
            peer.take(1000);
            peer.reset();
            String told = "hprof-rs: no dump: the connection to 127.0.0.1:" + peer.port() + " is closed: ";
            jvm.err.await(told, Jvm.LIMIT);
            // No connection, so no work for the next one.
            jvm.signal("QUIT");
            jvm.err.await(2, "word of the second", line -> line.startsWith(told), Jvm.LIMIT);
            assertTrue(count(jvm, "alive") > 0);
            assertEquals(0, jvm.end(), jvm.err::text);
            assertFalse(jvm.err.text().contains("hprof-rs: dumped"), jvm.err::text);
        }
    }

    private static long count(Jvm jvm, String word) {
        String line = jvm.say(word).out.await("COUNT " + word + " ", Jvm.LIMIT);
        return Long.parseLong(line.split(" ")[2]);
    }

    private static List<String> agentLines(Jvm jvm) {
        return jvm.err.lines().stream().filter(line -> line.startsWith("hprof-rs:")).collect(Collectors.toList());
    }
}
