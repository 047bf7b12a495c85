package harm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Beside;
import harness.Command;
import harness.Folder;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.Rows;
import harness.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import lifecycle.Patient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;

/** An OutOfMemoryError that Java code throws gives a dump, too, with the frames that threw it, and one error gives one. */
class JavaErrorsTest {
    private static final String ERROR = "java.lang.OutOfMemoryError";

    /** Enough for a JVM, and little enough to be full soon. */
    private static final String BOUND = "ulimit -v 12000000 && exec \"$@\"";

    @TempDir Path folder;

    static Stream<Arguments> errors() {
        return Jdks.majors().stream().flatMap(jdk -> Stream.of(
                Arguments.of(jdk, "direct", ERROR + ": " + (jdk.major < 17 ? "Direct buffer memory" : "Cannot reserve 1048576 bytes")),
                Arguments.of(jdk, "map", ERROR + ": Map failed"),
                Arguments.of(jdk, "threads", "OutOfMemoryError (threads): unable to create "),
                Arguments.of(jdk, "own", "harm.JavaErrors$OutOfSpace: no space"),
                Arguments.of(jdk, "none", ERROR)));
    }

    @ParameterizedTest
    @Beside
    @Rows("errors")
    void anErrorOfJavaCodeGivesOneDump(Jdk jdk, String what, String line) {
        Path dump = folder.resolve("out.1.hprof");
        try (Jvm jvm = bounded(jdk).agent("heap=dump,doe=n,oom=exit,file=out.%n.hprof").run(JavaErrors.class, what)) {
            // Only errors of the JVM itself end it.
            assertEquals(what.equals("threads") ? 3 : 0, jvm.exit(), jvm.err::text);
            assertEquals(1, count(jvm, "hprof-rs: " + line), jvm.err::text);
            assertEquals(1, count(jvm, "hprof-rs: dumped "), jvm.err::text);
        }
        assertEquals(Set.of("out.1.hprof"), new Folder(folder).dumps());
        showsTheLeak(dump);
    }

    @ParameterizedTest
    @Beside
    @Rows("harness.Jdks#majors")
    void nettysErrorGivesADump(Jdk jdk) {
        Path dump = folder.resolve("out.hprof");
        List<String> switches = new ArrayList<>(List.of("-Xmx64m", "-Dio.netty.maxDirectMemory=16777216", "-Dio.netty.noUnsafe=false"));
        if (jdk.major > 8) {
            // Without it Netty has the JDK count.
            switches.addAll(List.of("-Dio.netty.tryReflectionSetAccessible=true", "--add-opens=java.base/java.nio=ALL-UNNAMED",
                    "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED"));
        }
        try (Jvm jvm = Jvm.on(jdk, folder).switches(switches.toArray(String[]::new)).classPath(Tools.jar("netty-buffer-"))
                .classPath(Tools.jar("netty-common-")).agent("heap=dump,doe=n,file=" + dump).run(JavaErrors.class, "netty")) {
            assertEquals(0, jvm.exit(), jvm.err::text);
            String start = "hprof-rs: io.netty.util.internal.OutOfDirectMemoryError: failed to allocate ";
            assertEquals(1, count(jvm, start), jvm.err::text);
        }
        showsTheLeak(dump);
        // The frames that threw it are in the dump.
        String threads = Command.run(Tools.command(), "threads", dump).good().out;
        assertTrue(threads.contains("io.netty.util.internal.OutOfDirectMemoryError.<init>"), threads);
        assertTrue(threads.contains("harm.JavaErrors.netty"), threads);
    }

    static List<Jdk> some() {
        return List.of(Jdks.of(8), Jdks.of(17), Jdks.of(25));
    }

    /** Errors of Java code, which programs may live with, leave the JVM's own their dump. */
    @ParameterizedTest
    @Beside
    @Rows("some")
    void eachThrowerHasADump(Jdk jdk) {
        try (Jvm jvm = bounded(jdk).agent("heap=dump,doe=n,files=9,file=out.%n.hprof")
                .run(JavaErrors.class, "own", "direct", "heap", "none", "heap")) {
            assertEquals(0, jvm.exit(), jvm.err::text);
            List<String> dumped = jvm.err.lines().stream().filter(line -> line.startsWith("hprof-rs: dumped ")).collect(Collectors.toList());
            assertEquals(2, dumped.size(), jvm.err::text);
            String first = "hprof-rs: dumped out.1.hprof because of oom: harm.JavaErrors$OutOfSpace: no space: ";
            assertTrue(dumped.get(0).startsWith(first), dumped::toString);
            String second = "hprof-rs: dumped out.2.hprof because of oom: OutOfMemoryError (the Java heap): Java heap space: ";
            assertTrue(dumped.get(1).startsWith(second), dumped::toString);
        }
    }

    /** A message may be a value of the application's. */
    @ParameterizedTest
    @Beside
    @Rows("some")
    void aRedactedDumpTellsTheClassAlone(Jdk jdk) {
        Path dump = folder.resolve("out.hprof");
        try (Jvm jvm = bounded(jdk).agent("heap=dump,doe=n,files=9,redact=strings,file=" + dump).run(JavaErrors.class, "own")) {
            assertEquals(0, jvm.exit(), jvm.err::text);
            String line = "hprof-rs: dumped " + dump + " because of oom: harm.JavaErrors$OutOfSpace: ";
            assertEquals(1, count(jvm, line), jvm.err::text);
            assertEquals(0, count(jvm, line + "no space"), jvm.err::text);
        }
        new HprofCheck(dump).good();
    }

    /** Not even a thread can be started without another mapping. */
    @ParameterizedTest
    @Beside
    @Rows("some")
    void aProcessThatHasAllMappingsIsDumped(Jdk jdk) {
        Path dump = folder.resolve("out.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-Xms1g", "-Xmx1g", "-Xint").agent("heap=dump,doe=n,file=" + dump).run(JavaErrors.class, "maps")) {
            assertEquals(0, jvm.exit(), jvm.err::text);
            assertEquals(1, count(jvm, "hprof-rs: " + ERROR + ": Map failed"), jvm.err::text);
            assertEquals(1, count(jvm, "hprof-rs: dumped "), jvm.err::text);
        }
        new HprofCheck(dump).good();
    }

    /** The JDK collects garbage and maps again; nobody sees the first failure. */
    @ParameterizedTest
    @Beside
    @Rows("some")
    void whatTheJdkTriesAgainIsNoError(Jdk jdk) {
        try (Jvm jvm = bounded(jdk).agent("heap=dump,doe=n,file=" + folder.resolve("out.hprof")).run(JavaErrors.class, "mapOnce")) {
            assertEquals(0, jvm.exit(), jvm.err::text);
            assertEquals(List.of("NO ERROR mapOnce", "HELD 1"), jvm.out.lines());
            assertEquals("", jvm.err.text());
        }
    }

    @ParameterizedTest
    @Beside
    @Rows("harness.Jdks#majors")
    void whatAClassMakesForLaterIsNoError(Jdk jdk) {
        try (Jvm jvm = bounded(jdk).agent("heap=dump,doe=n,file=" + folder.resolve("out.hprof")).run(JavaErrors.class, "kept")) {
            assertEquals(0, jvm.exit(), jvm.err::text);
            assertEquals(List.of("MADE 2", "NO ERROR kept", "HELD 1"), jvm.out.lines());
            assertEquals("", jvm.err.text());
        }
    }

    @ParameterizedTest
    @Beside
    @Rows("some")
    void oomSwitchesItOff(Jdk jdk) {
        try (Jvm jvm = bounded(jdk).agent("heap=dump,doe=n,oom=n").run(JavaErrors.class, "own", "direct")) {
            assertEquals(0, jvm.exit(), jvm.err::text);
            assertEquals("", jvm.err.text());
        }
        assertEquals(Set.of(), new Folder(folder).dumps());
    }

    /** Beside profiles, which rewrite the same class, and count its objects and calls. */
    @ParameterizedTest
    @Beside
    @Rows("some")
    void profilesRewriteTheSameClass(Jdk jdk) throws IOException {
        String line = "hprof-rs: harm.JavaErrors$OutOfSpace: no space";
        Path dump = folder.resolve("out.hprof");
        try (Jvm jvm = bounded(jdk).agent("heap=all,sampling=0,doe=n,file=" + dump).run(JavaErrors.class, "own")) {
            assertEquals(0, jvm.exit(), jvm.err::text);
            assertEquals(1, count(jvm, line), jvm.err::text);
        }
        showsTheLeak(dump);
        Path report = folder.resolve("times.txt");
        try (Jvm jvm = bounded(jdk).agent("cpu=times,oom=y,doe=n,cutoff=0,file=" + report).run(JavaErrors.class, "own")) {
            assertEquals(0, jvm.exit(), jvm.err::text);
            assertEquals(1, count(jvm, line), jvm.err::text);
        }
        assertTrue(Files.readString(report).contains("java.lang.Throwable.<init>"));
    }

    /** A class that was rewritten must not be in the cache of a JVM, which takes classes from archives alone. */
    @Test
    @Beside
    void aJvmThatTrainsACacheIsLeftAlone() throws IOException {
        Path recorded = folder.resolve("recorded");
        // What follows the archive is the program's, which ignores it.
        try (Jvm jvm = Jvm.on(Jdks.of(25), folder).switches("-XX:AOTMode=record", "-XX:AOTConfiguration=" + recorded)
                .agent("heap=dump,doe=n").switches("-jar", archive().toString()).run(Patient.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            assertEquals(1, count(jvm, "hprof-rs: an OutOfMemoryError that Java code throws (Direct buffer memory) will make no dump: "),
                    jvm.err::text);
            assertTrue(recorded.toFile().length() > 0, jvm.out::text);
        }
    }

    private Path archive() throws IOException {
        Path file = folder.resolve("patient.jar");
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().putValue("Manifest-Version", "1.0");
        manifest.getMainAttributes().putValue("Main-Class", Patient.class.getName());
        try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(file), manifest)) {
            for (String name : List.of("lifecycle/Patient.class", "subject/Say.class")) {
                jar.putNextEntry(new ZipEntry(name));
                jar.write(Files.readAllBytes(Tools.subjects().resolve(name)));
            }
        }
        return file;
    }

    private Launch bounded(Jdk jdk) {
        return Jvm.on(jdk, folder).through("sh", "-c", BOUND, "sh").switches("-Xmx64m", "-XX:MaxDirectMemorySize=16m");
    }

    private static long count(Jvm jvm, String start) {
        return jvm.err.lines().stream().filter(line -> line.startsWith(start)).count();
    }

    /** A frame of the thread that threw holds it. */
    private static void showsTheLeak(Path dump) {
        new HprofCheck(dump).good();
        String[] rows = Command.run(Tools.command(), "histo", "--top", "1", dump).good().out.split("\n");
        assertTrue(Arrays.stream(rows).anyMatch(row -> row.contains("harm.OutOfMemory$Leak")), () -> String.join("\n", rows));
    }
}
