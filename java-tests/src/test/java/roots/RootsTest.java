package roots;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Beside;
import harness.Collector;
import harness.Command;
import harness.EachJdk;
import harness.Engine;
import harness.Javac;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.NetBeansReader;
import harness.Rows;
import harness.Setup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.netbeans.lib.profiler.heap.Instance;

/**
 * One state of a JVM, two lists: what survives HotSpot's own collection is in our dump. The program has a token in each place
 * where a JVM can hold an object: docs/design/roots.md lists them. What a dump is known to lack is in {@link KnownGaps}.
 */
class RootsTest {
    private static final int MOST_TRIES = 5;
    private static final String[] SWITCHES = {"-Xmx128m", "-XX:+UnlockDiagnosticVMOptions", "-XX:CompileCommand=quiet",
        // Objects of its archive are never collected, whether they are alive or not.
        "-Xshare:off",
        // Else handlers of exceptions are loaded before the exceptions are thrown.
        "-XX:-BytecodeVerificationRemote",
        "-XX:CompileCommand=dontinline,roots.Stop::here", "-XX:CompileCommand=dontinline,roots.Tok::of",
        "-XX:CompileCommand=dontinline,roots.Running::build",
        // Virtual threads that do not leave their carriers need one each.
        "-Djdk.virtualThreadScheduler.parallelism=64", "-Djdk.virtualThreadScheduler.maxPoolSize=64"};

    @TempDir static Path library;
    @TempDir Path folder;

    @BeforeAll
    static void compile() {
        Path source = Paths.get(System.getProperty("basedir", ""), "src/test/java/roots/native.c");
        Path headers = Jdks.of(21).home.resolve("include");
        Command.run("cc", "-shared", "-fPIC", "-I" + headers, "-I" + headers.resolve("linux"), "-o",
                library.resolve("native.so"), source).good();
    }

    /** Each collector under which a copy is read; the kinds of code take turns. */
    static Stream<Arguments> setups() {
        return each(Collector.values().length);
    }

    /** Two of each Java. */
    static Stream<Arguments> few() {
        return each(2);
    }

    private static Stream<Arguments> each(int most) {
        List<Arguments> setups = new ArrayList<>();
        Code[] codes = Code.values();
        for (Jdk jdk : Jdks.majors()) {
            List<Collector> collectors = jdk.collectors().stream().filter(each -> each != Collector.ZGC).collect(Collectors.toList());
            for (int turn = 0; turn < Math.min(most, collectors.size()); turn++) {
                Collector collector = collectors.get((turn + jdk.major) % collectors.size());
                setups.add(Arguments.of(Setup.of(jdk, collector), codes[turn % codes.length]));
            }
        }
        return setups.stream();
    }

    @EachJdk("a root that is missed loses what it holds")
    @Beside
    @ParameterizedTest
    @Rows("setups")
    void whatStandsStill(Setup setup, Code code) throws IOException {
        try (Jvm jvm = launch(setup, code, "still")) {
            dump(jvm);
            try (NetBeansReader ours = new NetBeansReader(ours()); NetBeansReader theirs = new NetBeansReader(theirs())) {
                KnownGaps gaps = new KnownGaps(setup.jdk.major, code);
                assertAll(() -> mustHaveTokens(jvm, gaps, ours, theirs),
                        () -> assertEquals(Map.of(), gaps.unknown(ours.histogram().to(theirs.histogram())), "classes"));
            }
        }
    }

    static Stream<Setup> zgc() {
        return Jdks.majors().stream().filter(jdk -> jdk.major >= 17 && jdk.collectors().contains(Collector.ZGC))
                .map(jdk -> Setup.of(jdk, Collector.ZGC));
    }

    /** HotSpot's list of ZGC has some iterators more, so only the tokens are compared. */
    @Beside
    @ParameterizedTest
    @Rows("zgc")
    void whatStandsStillUnderZgc(Setup setup) throws IOException {
        try (Jvm jvm = launch(setup, Code.INTERPRETED, "still")) {
            dump(jvm);
            try (NetBeansReader ours = new NetBeansReader(ours()); NetBeansReader theirs = new NetBeansReader(theirs())) {
                mustHaveTokens(jvm, new KnownGaps(setup.jdk.major, Code.INTERPRETED), ours, theirs);
            }
        }
    }

    /** Its threads run meanwhile, so only the tokens can be compared. What is lacking for a moment is there at another one. */
    @ParameterizedTest
    @Rows("few")
    void whatRuns(Setup setup, Code code) throws IOException {
        KnownGaps gaps = new KnownGaps(setup.jdk.major, code);
        Map<String, String> wrong = wrongWhileItRuns(setup, code, gaps);
        for (int number = 1; number < MOST_TRIES && !wrong.isEmpty() && wrong.keySet().stream().allMatch(gaps::lacksForAMoment); number++) {
            Files.delete(ours());
            Files.delete(theirs());
            wrong = wrongWhileItRuns(setup, code, gaps);
        }
        assertEquals(Map.of(), wrong, "tokens");
    }

    private Map<String, String> wrongWhileItRuns(Setup setup, Code code, KnownGaps gaps) throws IOException {
        try (Jvm jvm = launch(setup, code, "running")) {
            dump(jvm);
            jvm.standStill();
            try (NetBeansReader ours = new NetBeansReader(ours()); NetBeansReader theirs = new NetBeansReader(theirs())) {
                return wrongTokens(jvm, gaps, ours, theirs);
            }
        }
    }

    private Jvm launch(Setup setup, Code code, String what) {
        Launch launch = setup.on(folder).switches(SWITCHES).switches(code.switches);
        List<String> words = new ArrayList<>(List.of(what, folder.resolve("first.hprof").toString(), code.isWarm ? "warm" : "cold",
                library.resolve("native.so").toString()));
        if (setup.jdk.major > 8) {
            launch.switches("--add-opens", "java.base/java.lang=ALL-UNNAMED");
        }
        if (setup.jdk.major >= 21) {
            launch.switches("--add-exports", "java.base/jdk.internal.vm=ALL-UNNAMED");
        }
        if (setup.jdk.major >= 25) {
            launch.switches("--enable-native-access=ALL-UNNAMED").classPath(Javac.subjects(25));
            words.add("roots.Later");
        }
        return launch.agent("heap=dump,doe=n,file=" + ours()).run(Holders.class, words.toArray(new String[0])).ready();
    }

    private Path ours() {
        return folder.resolve("ours.hprof");
    }

    private Path theirs() {
        return folder.resolve("hotspot.hprof");
    }

    /** Has both dumps made, ours first, and once more if the collector was moving objects. */
    private void dump(Jvm jvm) throws IOException {
        String end;
        int number = 0;
        do {
            jvm.signal("QUIT");
            end = jvm.dumped(++number);
        } while (Engine.wasMoving(end) && number < MOST_TRIES);
        assertTrue(Engine.isSnapshot(end), end);
        if (number > 1) {
            Files.move(folder.resolve("ours." + (number - 1) + ".hprof"), ours(), StandardCopyOption.REPLACE_EXISTING);
        }
        jvm.say(theirs().toString()).out.await("WRITTEN", Jvm.LIMIT);
    }

    private static void mustHaveTokens(Jvm jvm, KnownGaps gaps, NetBeansReader ours, NetBeansReader theirs) {
        assertEquals(Map.of(), wrongTokens(jvm, gaps, ours, theirs), "tokens");
    }

    private static Map<String, String> wrongTokens(Jvm jvm, KnownGaps gaps, NetBeansReader ours, NetBeansReader theirs) {
        List<String> places = jvm.out.lines().stream().filter(line -> line.startsWith("PLACE "))
                .map(line -> line.substring("PLACE ".length())).collect(Collectors.toList());
        Map<Integer, Integer> found = tokens(ours);
        Map<Integer, Integer> alive = tokens(theirs);
        Map<String, String> wrong = new TreeMap<>();
        for (int place = 0; place < places.size(); place++) {
            String name = places.get(place);
            int live = alive.getOrDefault(place, 0);
            int count = found.getOrDefault(place, 0);
            if (live != Tok.CHAIN && !gaps.mayBeDead(name)) {
                wrong.put(name, live + " in HotSpot's dump");
            } else if (count < live && !gaps.lacks(name)) {
                wrong.put(name, count + " of " + live);
            }
        }
        return wrong;
    }

    /** How many tokens of each place a dump has. */
    private static Map<Integer, Integer> tokens(NetBeansReader dump) {
        Map<Integer, Integer> counts = new TreeMap<>();
        for (Object each : dump.heap().getJavaClassByName(Tok.class.getName()).getInstances()) {
            counts.merge((Integer) ((Instance) each).getValueOfField("place"), 1, Integer::sum);
        }
        return counts;
    }
}
