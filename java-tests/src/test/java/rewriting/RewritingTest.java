package rewriting;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.util.stream.Collectors.toList;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.ClassFiles;
import harness.InTurn;
import harness.Javac;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.OnlyInTestAll;
import harness.Rewriting;
import harness.RewrittenRuntime;
import harness.Rows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * The crate bytecode on real classes; the JVM's verifier and real programs are the judges.
 *
 * <p>What is tested where is a matter of time, a minute and a quarter on two cores. One runtime of each major version:
 * all its classes come out as they went in, and its java.base links with everything put in. The oldest and the newest,
 * which are those of Debian with the most modules, link with all of these. Of the runtimes with a Java compiler the
 * oldest and the newest compile; Java 8, which has none here, runs scripts.
 */
class RewritingTest {
    /** How many methods of a runtime may keep their code, by reason. None of those known does; newer may be longer. */
    private static final Map<String, Integer> MAY_BE_LEFT_ALONE = Map.of("TooBig", 5, "FarJump", 5);
    /** A program that needs no more than these of the runtime's classes has not done much. */
    private static final int CLASSES_AT_WORK = 600;
    /** How the JVM logs that a class comes not from our jar but from the runtime's own with java.lang. */
    private static final Pattern FROM_BASE = Pattern.compile("(source: jrt:/java.base|shared objects file|from .*/rt.jar])$");
    /** The compiler makes some more. */
    private static final int CLASSES_MADE = 40;

    @TempDir Path folder;

    static Set<Jdk> compilers() {
        List<Jdk> all = Jdks.all().stream().filter(jdk -> jdk.has("jdk.compiler")).collect(toList());
        assertFalse(all.isEmpty(), "no runtime has a compiler: install a JDK");
        return new LinkedHashSet<>(List.of(all.get(0), all.get(all.size() - 1)));
    }

    @ParameterizedTest
    @Rows("harness.Jdks#majors")
    void theClassesOfARuntimeComeOutAsTheyWentIn(Jdk jdk) {
        comeOutAsTheyWentIn("Java " + jdk, ClassFiles.of(jdk, module -> true, folder.resolve("old.classes")));
    }

    /** Other compilers than javac made some of them, Kotlin's for one. */
    @InTurn("the package bytecode has the same by properties")
    @Test
    void theClassesOfJarsComeOutAsTheyWentIn() {
        String path = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<Path> jars = Stream.of(path.split(":")).filter(file -> file.endsWith(".jar")).map(Path::of).collect(toList());
        assertTrue(jars.stream().anyMatch(jar -> jar.toString().contains("kotlin-stdlib")), path);
        comeOutAsTheyWentIn(jars.size() + " jars", ClassFiles.of(jars, folder.resolve("old.classes")));
    }

    private void comeOutAsTheyWentIn(String what, ClassFiles old) {
        Rewriting rewriting = Rewriting.of(old, Rewriting.SAME, folder.resolve("new.classes"));
        System.out.println(what + ": " + rewriting);
        assertEquals(Map.of(), rewriting.leftAlone, rewriting::toString);
        assertTrue(rewriting.classes > 1000 && rewriting.methods > 5 * rewriting.classes, rewriting::toString);
        assertEquals(List.of(), old.differences(rewriting.result), "classes with other bytes");
    }

    /** All means all: the class that is wrong shows that the verifier checks those of the runtime, too. */
    @OnlyInTestAll("verifies all classes of a runtime; the examples of the package have each instruction")
    @ParameterizedTest
    @Rows("harness.Jdks#majors")
    void allClassesLinkWithEverythingPutIn(Jdk jdk) throws IOException {
        List<Jdk> jdks = Jdks.majors();
        boolean all = jdk == jdks.get(0) || jdk == jdks.get(jdks.size() - 1);
        RewrittenRuntime runtime = rewritten(jdk, module -> all || module.equals(RewrittenRuntime.base(jdk)));
        Path names = folder.resolve("names");
        Files.write(names, runtime.classes);
        Files.write(names, List.of(RewrittenRuntime.BROKEN), StandardOpenOption.APPEND);
        Launch launch = Jvm.on(jdk, folder).switches(runtime.switches()).switches("-Xverify:all");
        if (jdk.major > 8) {
            launch.switches("--add-modules=ALL-SYSTEM");
        }
        try (Jvm jvm = launch.run(Linking.class, names.toString())) {
            assertEquals(0, jvm.exit(), () -> jvm.out.text() + "\n" + jvm.err.text());
            List<String> faults = jvm.out.lines().stream().filter(line -> line.startsWith("FAULT ")).collect(toList());
            assertEquals(1, faults.size(), () -> String.join("\n", faults));
            String wrong = "FAULT " + RewrittenRuntime.BROKEN + " java.lang.VerifyError";
            assertTrue(faults.get(0).startsWith(wrong), faults.get(0));
            assertTrue(jvm.out.lines().contains("LINKED " + runtime.classes.size()), jvm.out::text);
        }
    }

    @InTurn("scriptsComeToTheirResultWithEverythingPutIn")
    @ParameterizedTest
    @Rows("compilers")
    void aCompilerMakesTheSameWithEverythingPutIn(Jdk jdk) throws IOException {
        RewrittenRuntime runtime = rewritten(jdk, RewrittenRuntime.base(jdk)::equals);
        Path expected = folder.resolve("expected");
        Path actual = folder.resolve("actual");
        try (Jvm jvm = compile(Jvm.on(jdk, folder).switches("-XX:TieredStopAtLevel=1"), expected)) {
            assertEquals(0, jvm.exit(), jvm.err::text);
        }
        try (Jvm jvm = compile(started(runtime), actual)) {
            mustEndWell(jvm, runtime);
        }
        Map<String, String> classes = contents(expected);
        assertTrue(classes.size() > CLASSES_MADE, classes.keySet()::toString);
        assertEquals(classes, contents(actual));
    }

    private static Jvm compile(Launch launch, Path classes) {
        return launch.run("com.sun.tools.javac.Main", Javac.sample(classes).toArray(new String[0]));
    }

    /** By path from the folder; bytes as characters. */
    private static Map<String, String> contents(Path classes) throws IOException {
        Map<String, String> contents = new TreeMap<>();
        try (Stream<Path> files = Files.walk(classes).filter(Files::isRegularFile)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                contents.put(classes.relativize(file).toString(), new String(Files.readAllBytes(file), ISO_8859_1));
            }
        }
        return contents;
    }

    @Test
    void scriptsComeToTheirResultWithEverythingPutIn() throws IOException {
        RewrittenRuntime runtime = rewritten(Jdks.of(8), RewrittenRuntime.base(Jdks.of(8))::equals);
        Path result = folder.resolve("result");
        try (Jvm jvm = started(runtime).run(Scripting.class, result.toString())) {
            mustEndWell(jvm, runtime);
        }
        assertEquals(List.of(Scripting.RESULT), Files.readAllLines(result));
    }

    private RewrittenRuntime rewritten(Jdk jdk, Predicate<String> modules) {
        RewrittenRuntime runtime = RewrittenRuntime.of(jdk, modules, folder);
        System.out.println("Java " + jdk + ": " + runtime.rewriting);
        assertTrue(runtime.rewriting.methods > 5 * runtime.classes.size(), runtime.rewriting::toString);
        runtime.rewriting.leftAlone.forEach((reason, count) ->
                assertTrue(count <= MAY_BE_LEFT_ALONE.getOrDefault(reason, 0), runtime.rewriting::toString));
        return runtime;
    }

    /** A JVM that logs the source of each class. */
    private Launch started(RewrittenRuntime runtime) {
        return Jvm.on(runtime.jdk, folder).switches(runtime.switches()).switches("-verbose:class");
    }

    private static void mustEndWell(Jvm jvm, RewrittenRuntime runtime) {
        assertEquals(0, jvm.exit(), jvm.err::text);
        List<String> lines = jvm.out.lines();
        String ours = runtime.base().toString();
        long rewritten = lines.stream().filter(line -> line.contains(ours)).count();
        assertTrue(rewritten > CLASSES_AT_WORK, rewritten + " classes from " + ours);
        List<String> others = lines.stream().filter(line -> !line.contains(ours))
                .filter(line -> FROM_BASE.matcher(line).find()).collect(toList());
        assertEquals(List.of(), others, "classes that are not rewritten");
    }
}
