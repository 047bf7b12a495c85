package redaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Attach;
import harness.Collector;
import harness.Command;
import harness.Folder;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Judge;
import harness.Jvm;
import harness.Launch;
import harness.NetBeansReader;
import harness.Peer;
import harness.Rows;
import harness.SharkReader;
import harness.SlurpReader;
import harness.SocketFile;
import harness.Tools;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** Planted secrets are looked for in everything that the agent writes: only what docs/production.md lists is there. */
class RedactionTest {
    /** Texts by their letter: c, l, w in strings, h a char array, b bytes, a argument, p property, e environment; names. */
    private static final String TEXTS = "clwhbapegt";
    private static final Set<String> ALL = Set.of(
            "c", "l", "w", "h", "b", "a", "p", "e", "g", "t", "STATIC", "field", "numbers");

    @TempDir Path folder;
    private int dumps;

    static List<Jdk> some() {
        return List.of(Jdks.of(8), Jdks.of(17), Jdks.of(25));
    }

    private Launch launch(Jdk jdk) {
        return Jvm.on(jdk, folder).through("env", "SECRET=" + Planted.text('e')).switches("-Dsecret=" + Planted.text('p'));
    }

    private static Jvm ready(Launch launch) {
        return launch.run(Planted.class, Planted.text('a')).ready();
    }

    @ParameterizedTest
    @Rows("some")
    void onlyWhatTheWordLeavesIsWritten(Jdk jdk) throws Exception {
        try (Jvm jvm = ready(launch(jdk))) {
            assertEquals(ALL, found(dump(jvm, "plain.hprof", "verbose=y")));
            Set<String> strings = found(dump(jvm, "strings.hprof", "redact=strings"));
            // The environment is kept as bytes, too.
            strings.remove("e");
            assertEquals(sorted("h", "b", "g", "t", "STATIC", "field", "numbers"), strings);
            assertEquals(sorted("g", "t", "STATIC", "field"), found(dump(jvm, "arrays.hprof", "redact=arrays")));
            assertEquals(sorted("g", "t"), found(dump(jvm, "values.hprof", "redact=values")));
            assertEquals(Set.of(), found(dump(jvm, "all.hprof", "redact=all")));
            assertEquals(Set.of(), found(dump(jvm, "all.hprof.gz", "redact=all")));
            assertEquals(Set.of(), found(dump(jvm, "all.txt", "redact=all,format=a")));
            if (jdk.major > 8) {
                assertEquals(Set.of(), found(graph(jvm)));
            }
            String line = jvm.dumped(5);
            assertTrue(line.contains("engine snapshot") && line.contains(", redacted: all"), line);
            for (String name : List.of("strings.hprof", "values.hprof", "all.hprof", "all.hprof.gz")) {
                mustBeRead(folder.resolve(name));
            }
            for (String word : List.of("strings", "arrays", "values", "all")) {
                String info = Command.run(Tools.command(), "check", folder.resolve(word + ".hprof")).good().out;
                assertTrue(info.matches("(?s).*\\n  redacted +" + word + "\\n.*"), info);
                String waste = Command.run(Tools.command(), "waste", folder.resolve(word + ".hprof")).good().out;
                assertTrue(waste.contains("redacted (" + word + "), so left out: equal strings"), waste);
            }
            assertFalse(Command.run(Tools.command(), "check", folder.resolve("plain.hprof")).good().out.contains("  redacted "));
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    private static void mustBeRead(Path dump) {
        List<Judge> judges = dump.toString().endsWith(".gz") ? List.of(new HprofCheck(dump).good())
                : List.of(new HprofCheck(dump).good(), new SlurpReader(dump), new SharkReader(dump), new NetBeansReader(dump));
        for (Judge judge : judges) {
            assertEquals(1, judge.histogram().of("redaction.Planted"), judge.name() + " " + dump);
        }
    }

    @Test
    void fieldsAreKeptAndDroppedByName() throws Exception {
        String kept = "keep=redaction.Planted#field;redaction.Planted#latin;redaction.*#num*;*Planted#STATIC*";
        try (Jvm jvm = ready(launch(Jdks.of(21)))) {
            Set<String> found = found(dump(jvm, "kept.hprof", "redact=all," + kept));
            assertEquals(sorted("field", "l", "numbers", "STATIC", "c"), found);
            found = found(dump(jvm, "both.hprof", "redact=all," + kept + ",drop=redaction.Planted#field;*#latin;*#STATIC_TEXT"));
            assertEquals(sorted("numbers", "STATIC"), found);
            Set<String> left = new TreeSet<>(ALL);
            left.removeAll(Set.of("field", "w", "h"));
            String dropped = "drop=redaction.Planted#field;*Planted#wide;*Planted#chars;redaction.Planted#misspelt";
            assertEquals(left, found(dump(jvm, "dropped.hprof", dropped)));
            String said = "drop=redaction.Planted#misspelt: no loaded class has this field";
            assertTrue(jvm.err.text().contains(said), jvm.err::text);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /** At the start, down a socket, with the sites and samples of profiles. */
    @Test
    void nothingGoesDownASocket() {
        try (Peer peer = Peer.listen()) {
            Launch launch = launch(Jdks.of(17)).agent("heap=all,thread=y,redact=all," + peer.option());
            try (Jvm jvm = launch.run(Planted.class, Planted.text('a'))) {
                peer.accept().collect();
                assertEquals(0, jvm.ready().end(), jvm.err::text);
                assertEquals(Set.of(), found(peer.all()));
            }
        }
    }

    @ParameterizedTest
    @Rows("some")
    void nothingGoesThroughAPipe(Jdk jdk) throws IOException {
        Path pipe = folder.resolve("pipe");
        Path taken = folder.resolve("taken");
        Command.run("mkfifo", pipe).good();
        for (String redact : List.of("", ",redact=all")) {
            Set<String> expected = redact.isEmpty() ? ALL : Set.of();
            String words = "heap=dump,doe=n" + redact;
            try (Jvm jvm = ready(launch(jdk).agent(words + ",exec=cat > " + taken))) {
                jvm.signal("QUIT");
                jvm.err.await(1, "word of a dump", line -> line.contains("sent the heap dump to exec="), Jvm.LIMIT);
                assertEquals(expected, found(Files.readAllBytes(taken)));
                Command.run("sh", "-c", "'" + Tools.command() + "' dump " + jvm.pid() + " -o - --options verbose=y" + redact + " > " + taken)
                        .good();
                assertEquals(expected, found(Files.readAllBytes(taken)));
                assertEquals(0, jvm.end(), jvm.err::text);
            }
            try (Jvm jvm = ready(launch(jdk).agent(words + ",file=" + pipe))) {
                jvm.signal("QUIT");
                Command.run("sh", "-c", "cat " + pipe + " > " + taken).good();
                assertEquals(expected, found(Files.readAllBytes(taken)));
                assertEquals(0, jvm.end(), jvm.err::text);
            }
        }
    }

    /** Whether redacted or not. */
    @Test
    void samplesHaveNoValues() throws IOException {
        Path lines = folder.resolve("lines");
        try (Jvm jvm = ready(launch(Jdks.of(17)).agent("heap=dump,doe=n,do=histo=" + lines + ",on=every=1s"))) {
            new Folder(folder).await(() -> Files.exists(lines), "a sample", Jvm.LIMIT);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        String text = new String(Files.readAllBytes(lines), StandardCharsets.UTF_8);
        assertTrue(text.contains("\"class\":\"java.lang.String\""), text);
        assertEquals(Set.of(), found(text.getBytes(StandardCharsets.UTF_8)));
    }

    /** Without --strings the names of threads alone (docs/sql.md). */
    @Test
    void tablesHaveTheTextsThatAreAskedFor() throws Exception {
        try (Jvm jvm = ready(launch(Jdks.of(17)))) {
            dump(jvm, "plain.hprof", "verbose=y");
            dump(jvm, "all.hprof", "redact=all");
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        assertEquals(Set.of("t"), found(tables("plain.hprof")));
        Set<String> texts = found(tables("plain.hprof", "--strings"));
        assertTrue(texts.containsAll(Set.of("c", "l", "w", "a", "p", "g", "t")), texts::toString);
        assertEquals(Set.of(), found(tables("all.hprof", "--strings")));
    }

    /** All rows of the tables that a dump becomes. */
    private byte[] tables(String dump, String... words) {
        Path tables = folder.resolve("tables");
        List<Object> command = new ArrayList<>(List.of(Tools.command(), "convert", folder.resolve(dump), "--to", "parquet", "-o", tables));
        command.addAll(List.of(words));
        Command.run(command.toArray()).good();
        return Tools.rows(tables).getBytes(StandardCharsets.ISO_8859_1);
    }

    @Test
    void namesOfThreadsAreStarsInProfilesToo() throws IOException {
        Path file = folder.resolve("profile.txt");
        for (String redact : List.of("", ",redact=all")) {
            Launch launch = launch(Jdks.of(17)).agent("heap=sites,thread=y,force=y,format=a,file=" + file + redact);
            try (Jvm jvm = ready(launch)) {
                assertEquals(0, jvm.end(), jvm.err::text);
            }
            assertEquals(redact.isEmpty() ? sorted("g", "t") : Set.of(), found(Files.readAllBytes(file)));
        }
    }

    @Test
    void whatCannotBeRedactedIsRefusedByName() {
        Path file = folder.resolve("zgc.hprof");
        try (Jvm jvm = Jvm.on(Jdks.of(11), folder).with(Collector.ZGC).run(Planted.class).ready()) {
            for (String left : List.of("redact=strings", "primfields=n", "primarrays=n")) {
                Command refused = jvm.attach("heap=dump," + left + ",file=" + file);
                assertTrue(refused.out.contains("return code: 200"), refused::toString);
                refused = jvm.attach("heap=dump," + left + ",file=" + file + ",stop=always");
                assertTrue(refused.out.contains("return code: 100"), refused::toString);
            }
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(jvm.err.text().contains("only a forked copy is redacted before it is written"), jvm.err::text);
            assertTrue(jvm.err.text().contains("stop=always cannot be redacted"), jvm.err::text);
        }
        Launch launch = Jvm.on(Jdks.of(11), folder).with(Collector.ZGC);
        try (Jvm jvm = launch.agent("heap=dump,redact=all,doe=n,file=" + file).run(Planted.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(jvm.err.text().contains("there will be no dump unless this changes: the collector maps"), jvm.err::text);
        }
        assertFalse(Files.exists(file));
    }

    private byte[] dump(Jvm jvm, String name, String options) throws Exception {
        Path file = folder.resolve(name);
        Attach.dump(jvm, ++dumps, options + ",file=" + file);
        if (!name.endsWith(".gz")) {
            return Files.readAllBytes(file);
        }
        try (InputStream in = new GZIPInputStream(Files.newInputStream(file))) {
            return in.readAllBytes();
        }
    }

    private byte[] graph(Jvm jvm) {
        Path socket = folder.resolve("socket");
        try (SocketFile listener = new SocketFile(socket)) {
            CompletableFuture<byte[]> taken = listener.take(Integer.MAX_VALUE);
            jvm.attach("heap=dump,redact=all,send=graph:" + socket).good();
            byte[] stream = taken.join();
            assertTrue(stream.length > 100_000);
            return stream;
        }
    }

    /** The secrets that are in there, in any of their forms. */
    private static Set<String> found(byte[] all) {
        // One byte is one character.
        String text = new String(all, StandardCharsets.ISO_8859_1);
        Set<String> found = new TreeSet<>();
        for (char letter : TEXTS.toCharArray()) {
            String part = Planted.text(letter).substring(0, 9);
            boolean isThere = List.of(StandardCharsets.UTF_8, StandardCharsets.UTF_16LE, StandardCharsets.UTF_16BE).stream()
                    .anyMatch(charset -> text.contains(new String(part.getBytes(charset), StandardCharsets.ISO_8859_1)));
            if (isThere) {
                found.add(String.valueOf(letter));
            }
        }
        for (String name : List.of("3 STATIC", "5 field", "7 numbers")) {
            long number = Planted.number(name.charAt(0) - '0');
            for (ByteOrder order : List.of(ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN)) {
                byte[] bytes = ByteBuffer.allocate(8).order(order).putLong(number).array();
                if (text.contains(new String(bytes, StandardCharsets.ISO_8859_1)) || text.contains(String.valueOf(number))) {
                    found.add(name.substring(2));
                }
            }
        }
        return found;
    }

    private static Set<String> sorted(String... names) {
        return new TreeSet<>(List.of(names));
    }
}
