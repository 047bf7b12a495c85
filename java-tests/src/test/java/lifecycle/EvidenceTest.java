package lifecycle;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Command;
import harness.Folder;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Testimony;
import harness.Tools;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What was there before a JVM started is still there after it. */
class EvidenceTest {
    private static final byte[] EVIDENCE = "of the JVM before".getBytes(StandardCharsets.UTF_8);

    @TempDir Path folder;

    static List<Jdk> majors() {
        return Jdks.majors();
    }

    static List<Jdk> some() {
        return List.of(Jdks.of(8), Jdks.of(17), Jdks.of(25));
    }

    @ParameterizedTest
    @Rows("majors")
    void aDumpTakesAFreeNameBesideAFileThatIsThere(Jdk jdk) throws IOException {
        Path there = Files.write(folder.resolve("out.hprof"), EVIDENCE);
        Files.write(folder.resolve("out.2.hprof"), EVIDENCE);
        try (Jvm jvm = Jvm.on(jdk, folder).dumpTo(there).run(Patient.class).ready()) {
            jvm.signal("QUIT");
            assertTrue(jvm.dumped(1).contains("out.1.hprof: "), jvm.err::text);
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(jvm.dumped(2).contains("out.3.hprof: "), jvm.err::text);
            long told = jvm.err.lines().stream().filter(line -> line.contains("out.hprof is there already and stays")).count();
            assertEquals(1, told, jvm.err::text);
            Testimony.of(jvm).mustHoldIn(folder.resolve("out.1.hprof"));
            Testimony.of(jvm).mustHoldIn(folder.resolve("out.3.hprof"));
        }
        assertArrayEquals(EVIDENCE, Files.readAllBytes(there));
        assertArrayEquals(EVIDENCE, Files.readAllBytes(folder.resolve("out.2.hprof")));
        assertEquals(Set.of("out.hprof", "out.1.hprof", "out.2.hprof", "out.3.hprof"), new Folder(folder).dumps());
    }

    @ParameterizedTest
    @Rows("some")
    void withForceTheFirstDumpReplacesIt(Jdk jdk) throws IOException {
        Path there = Files.write(folder.resolve("out.hprof"), EVIDENCE);
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=dump,force=y,file=" + there).run(Patient.class).ready()) {
            jvm.signal("QUIT");
            jvm.dumped(1);
            assertEquals(0, jvm.end(), jvm.err::text);
            Testimony.of(jvm).mustHoldIn(there);
            Testimony.of(jvm).mustHoldIn(folder.resolve("out.1.hprof"));
        }
        assertEquals(Set.of("out.hprof", "out.1.hprof"), new Folder(folder).dumps());
    }

    /** Each file that the agent writes: what it is called, who asks for it, and whether texts are added to it. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "java.hprof      | heap=dump                                                              | stays",
        "a.hprof.gz      | heap=dump,file=a.hprof.gz                                              | stays",
        "java.hprof.txt  | heap=dump,format=a                                                     | stays",
        "java.hprof.txt  | cpu=samples                                                            | stays",
        "java.hprof.txt  | monitor=y                                                              | stays",
        "a.bin           | heap=sites,format=b,file=a.bin                                         | stays",
        "java.sites.txt  | heap=sites,doe=n,on=every=1s,count=1,do=sites                          | stays",
        "java.histo.jsonl| heap=dump,doe=n,on=every=1s,count=1,do=histo                           | grows",
        "java.leaks.txt  | heap=dump,doe=n,on=every=1s,count=1,do=leaks                           | grows",
    })
    void everyFileThatIsThereStays(String name, String options, String fate) throws IOException {
        Path there = Files.write(folder.resolve(name), EVIDENCE);
        String command = options.contains("do=leaks") ? ",hprof=" + Tools.command() : "";
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).agent(options + command).run(Patient.class).ready()) {
            if (options.contains("on=")) {
                Folder files = new Folder(folder);
                files.await(() -> fate.equals("stays") ? isBeside(name, files) : !isWhole(there), "what is written", Jvm.LIMIT);
            }
            assertEquals(0, jvm.end(), jvm.err::text);
            boolean begins = text(there).startsWith(new String(EVIDENCE, StandardCharsets.UTF_8));
            assertEquals(fate, isWhole(there) ? "stays" : begins ? "grows" : "new", jvm.err::text);
        }
    }

    private static boolean isWhole(Path there) {
        return text(there).equals(new String(EVIDENCE, StandardCharsets.UTF_8));
    }

    /** Whether the agent has written a file of another name. */
    private static boolean isBeside(String name, Folder files) {
        return files.names().stream().anyMatch(it -> !it.equals("logs") && !it.equals(name) && !it.endsWith(".part"));
    }

    /** What the shell or an image gives to every JVM is for the application alone. */
    @ParameterizedTest
    @Rows("majors")
    void toolsOfTheJdkTouchNothing(Jdk jdk) throws IOException {
        Path there = Files.write(folder.resolve("out.hprof"), EVIDENCE);
        String variable = "JAVA_TOOL_OPTIONS='-agentpath:" + Tools.agent() + "=heap=dump,file=" + there + "'";
        for (String[] words : tools(jdk)) {
            List<Object> all = new ArrayList<>(List.of("env", variable));
            all.addAll(List.of(words));
            Command tool = Command.run(all.toArray());
            assertFalse(tool.err.contains("hprof-rs: ") || tool.out.contains("hprof-rs: "), tool::toString);
            assertEquals(Set.of("out.hprof"), new Folder(folder).names(), tool::toString);
        }
        assertArrayEquals(EVIDENCE, Files.readAllBytes(there));
        try (Jvm jvm = Jvm.on(jdk, folder).through("env", variable).run(Patient.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            Testimony.of(jvm).mustHoldIn(folder.resolve("out.1.hprof"));
        }
        // Who asks for the dump of a tool gets it.
        Path asked = folder.resolve("asked.hprof");
        Command.run(jdk.java().resolveSibling("keytool"), "-J-agentpath:" + Tools.agent() + "=heap=dump,file=" + asked, "-help");
        new HprofCheck(asked).good();
    }

    /** Those of this runtime, and the compiler and its neighbours of the one that runs the tests. */
    private List<String[]> tools(Jdk jdk) {
        Path own = jdk.java().getParent();
        Path tests = Paths.get(System.getProperty("java.home"), "bin");
        List<String[]> tools = new ArrayList<>();
        for (String line : new String[] {"java -version", "java -help", "java", "keytool -help", "jps", "jcmd -l", "jstat -options",
            "jstack -help", "jinfo -help", "jmap -help"}) {
            tools.add((own + "/" + line).split(" "));
        }
        for (String line : new String[] {"javac -version", "jar --help", "javap -version java.lang.Object", "jps"}) {
            tools.add((tests + "/" + line).split(" "));
        }
        tools.removeIf(words -> !Files.exists(Paths.get(words[0])));
        assertTrue(tools.stream().anyMatch(words -> words[0].endsWith("javac")), tests::toString);
        return tools;
    }

    /** Each makes its dumps under the same name, and none is lost. */
    @ParameterizedTest
    @Rows("some")
    void jvmsThatStartAtOnceKeepEachOthersDumps(Jdk jdk) throws IOException {
        List<Jvm> jvms = new ArrayList<>();
        int count = 4;
        try {
            for (int i = 0; i < count; i++) {
                Path own = Files.createDirectories(folder.resolve("jvm" + i));
                jvms.add(Jvm.on(jdk, own).dumpTo(folder.resolve("out.hprof")).run(Patient.class));
            }
            jvms.forEach(Jvm::ready);
            jvms.forEach(jvm -> jvm.signal("QUIT"));
            Set<String> told = new TreeSet<>();
            for (Jvm jvm : jvms) {
                told.add(name(jvm.dumped(1)));
            }
            jvms.forEach(jvm -> jvm.say("exit"));
            for (Jvm jvm : jvms) {
                assertEquals(0, jvm.exit(), jvm.err::text);
                told.add(name(jvm.dumped(2)));
            }
            assertEquals(2 * count, told.size(), told::toString);
            assertEquals(told, new Folder(folder).dumps());
            for (String name : told) {
                new HprofCheck(folder.resolve(name)).good();
            }
        } finally {
            jvms.forEach(Jvm::close);
        }
    }

    /** The file of `hprof-rs: dumped FILE: …`. */
    private static String name(String line) {
        return Paths.get(line.split(" ")[2].replaceAll(":$", "")).getFileName().toString();
    }

    private static String text(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
