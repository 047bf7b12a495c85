package sites;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Beside;
import harness.Collector;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Setup;
import harness.SiteList;
import harness.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** Every allocation counted (sampling=0): the numbers are those of the program, on every Java and collector. */
class ExactTest {
    /** Enough for the compiler to compile it. */
    private static final int ROUNDS = 20_000;

    /** From sample to sample of what bytecode does not show, as in profiles.rs. */
    private static final double UNSHOWN_INTERVAL_BYTES = 512 * 1024;
    /** An estimate farther away than this many standard errors is wrong: one in a million by chance. */
    private static final double STANDARD_ERRORS = 6;

    @TempDir Path folder;

    /** Every Java with its usual collector, and every collector of one: what is counted has little to do with them. */
    static List<Setup> setups() {
        return Setup.matrix().stream().filter(setup -> setup.collector == Collector.G1 || setup.jdk.major == 21)
                .collect(Collectors.toList());
    }

    static List<Jdk> jdks() {
        return Jdks.since(8);
    }

    /** Some of those that sample. */
    static List<Jdk> sampling() {
        return List.of(Jdks.of(11), Jdks.of(17), Jdks.of(25));
    }

    @ParameterizedTest
    @Beside
    @Rows("setups")
    void theNumbersAreTheProgramsOwn(Setup setup) {
        Path file = folder.resolve("sites.hprof");
        try (Jvm jvm = setup.on(folder).agent("heap=sites,sampling=0,cutoff=0,file=" + file).run(Counts.class, "" + ROUNDS).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(jvm.err.text().contains("every allocation by bytecode"), jvm.err::text);
            new HprofCheck(file).good();
            compare(jvm, new SiteList(file, "sites"));
        }
    }

    @ParameterizedTest
    @Beside
    @Rows("jdks")
    void theDumpHasThemToo(Jdk jdk) {
        Path dump = folder.resolve("out.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=all,sampling=0,cutoff=0,file=" + dump).run(Counts.class, "2000").ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            new HprofCheck(dump).good();
            compare(jvm, new SiteList(dump, "sites"));
            SiteList objects = new SiteList(dump, "dump");
            for (String line : jvm.out.lines()) {
                String[] words = line.split(" ");
                if (words[0].equals("MADE")) {
                    long live = Long.parseLong(words[4]);
                    assertEquals(live, live(objects, words[1], words[2]), line);
                }
            }
        }
    }

    /** Clones and arrays by reflection are sampled, and each is found below the line of the program that asked for it. */
    @ParameterizedTest
    @Beside
    @Rows("sampling")
    void whatBytecodeDoesNotShowIsEstimated(Jdk jdk) throws IOException {
        Path file = folder.resolve("sites.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=sites,sampling=0,cutoff=0,file=" + file).run(Unshown.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            SiteList sites = new SiteList(file, "sites");
            List<String> lines = jvm.out.lines().stream().filter(line -> line.startsWith("MADE ")).collect(Collectors.toList());
            assertEquals(3, lines.size(), jvm.out::text);
            for (String line : lines) {
                String[] words = line.split(" ");
                double made = Long.parseLong(words[3]);
                double chance = 1 - Math.exp(-Long.parseLong(words[4]) / UNSHOWN_INTERVAL_BYTES);
                double standardError = Math.sqrt(made * (1 - chance) / chance);
                assertTrue(standardError < 0.05 * made, line);
                String here = "sites.Unshown." + words[2] + "(Unshown.java:" + number("Unshown.java", "by " + words[2]) + ")";
                long estimate = sites.sites.stream().filter(site -> site.className.equals(words[1]) && site.frames.contains(here))
                        .mapToLong(site -> site.allocatedObjects).sum();
                assertEquals(made, estimate, STANDARD_ERRORS * standardError, line + " at " + here);
            }
        }
    }

    /** The line of a subject's source that has these words in its comment, counted from 1. */
    private static int number(String source, String words) throws IOException {
        List<String> lines = Files.readAllLines(Tools.source("sites/" + source));
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).endsWith("// " + words)) {
                return i + 1;
            }
        }
        throw new AssertionError("no line of " + source + " is " + words);
    }

    /** When classes are unloaded, the place of their bytecode is other classes' soon. */
    @ParameterizedTest
    @Beside
    @Rows("setups")
    void aClassThatComesToLieWhereAnotherWasIsNotTakenForIt(Setup setup) {
        for (String everyOne : everyOne(setup)) {
            for (String kind : kinds(everyOne)) {
                succeed(setup, everyOne, kind);
            }
        }
    }

    /** Options that count every allocation. */
    private static List<String> everyOne(Setup setup) {
        // Samples from one byte to the next are all that is allocated; HotSpot 11 leaves some out.
        boolean samplesAll = setup.jdk.major >= 17 && setup.collector == Collector.G1;
        return samplesAll ? List.of("sampling=0", "sampling=1,maxcost=0") : List.of("sampling=0");
    }

    /** No hook is shown the file of a hidden class, so the arrays that it makes are counted only where all is sampled. */
    private static List<String> kinds(String everyOne) {
        return everyOne.startsWith("sampling=1,") ? List.of("loaded", "hidden") : List.of("loaded");
    }

    private void succeed(Setup setup, String everyOne, String kind) {
        Path file = folder.resolve(kind + everyOne.substring(0, 10) + ".hprof");
        try (Jvm jvm = setup.on(folder).agent("heap=sites," + everyOne + ",cutoff=0,file=" + file)
                .run(Successors.class, kind.equals("hidden") ? "200" : "400", kind).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            SiteList sites = new SiteList(file, "sites");
            assertEquals(26, eachOnesOwn(jvm, sites, "MADE"));
        }
    }

    /** Compares what each class made, hidden ones by name, with the lines of this name, and returns how many there are. */
    private static int eachOnesOwn(Jvm jvm, SiteList sites, String name) {
        List<String> lines = jvm.out.lines().stream().filter(line -> line.startsWith(name + " ")).collect(Collectors.toList());
        for (String line : lines) {
            String[] words = line.split(" ");
            Pattern run = Pattern.compile(Pattern.quote(words[1]) + "([/+.]0x[0-9a-f]+)?\\.run\\(");
            long counted = sites.sites.stream().filter(site -> site.className.equals("int[]")
                    && !site.frames.isEmpty() && run.matcher(site.frames.get(0)).lookingAt())
                    .mapToLong(site -> site.allocatedObjects).sum();
            assertEquals(Long.parseLong(words[2]), counted, line);
        }
        return lines.size();
    }

    /** The same for the bytecode of a method that is redefined. */
    @ParameterizedTest
    @Beside
    @Rows("setups")
    void bytecodeThatComesToLieWhereOtherWasIsNotTakenForIt(Setup setup) throws IOException {
        Path jar = folder.resolve("agent.jar");
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().putValue("Manifest-Version", "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", Redefined.class.getName());
        manifest.getMainAttributes().putValue("Can-Redefine-Classes", "true");
        new JarOutputStream(Files.newOutputStream(jar), manifest).close();
        for (String everyOne : everyOne(setup)) {
            redefine(setup, jar, everyOne);
        }
    }

    private void redefine(Setup setup, Path jar, String everyOne) {
        Path file = folder.resolve(everyOne.substring(0, 10) + ".hprof");
        try (Jvm jvm = setup.on(folder).switches("-javaagent:" + jar)
                .agent("heap=sites," + everyOne + ",cutoff=0,file=" + file).run(Redefined.class, "200").ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            SiteList sites = new SiteList(file, "sites");
            for (String type : List.of("int[]", "long[]")) {
                long counted = sites.sites.stream().filter(site -> site.className.equals(type) && !site.frames.isEmpty()
                        && site.frames.get(0).startsWith(Redefined.Maker.class.getName() + ".run("))
                        .mapToLong(site -> site.allocatedObjects).sum();
                assertTrue(jvm.out.lines().contains("MADE " + type + " " + counted), type + " " + counted + jvm.out.text());
            }
            assertEquals(26, eachOnesOwn(jvm, sites, "BY"));
        }
    }

    /** A stack that is whole is the top of others. */
    @ParameterizedTest
    @Rows("jdks")
    void eachLevelOfARecursionHasItsSite(Jdk jdk) {
        Path file = folder.resolve("levels.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=sites,sampling=0,cutoff=0,file=" + file).run(Levels.class, "2", "3", "4", "5", "6").ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        Map<Integer, Long> made = new SiteList(file, "sites").sites.stream()
                .filter(site -> site.className.equals("java.util.LinkedHashMap") && site.frames.get(0).startsWith("sites.Levels.main("))
                .collect(Collectors.groupingBy(site -> site.frames.size(), Collectors.summingLong(site -> site.allocatedObjects)));
        assertEquals(Map.of(1, 1L, 2, 1L, 3, 1L, 4, 3L), made);
    }

    private static void compare(Jvm jvm, SiteList sites) {
        int compared = 0;
        for (String line : jvm.out.lines()) {
            String[] words = line.split(" ");
            if (words[0].equals("MADE")) {
                long made = sites.sites.stream().filter(site -> isAt(site, words[1], words[2]))
                        .mapToLong(site -> site.allocatedObjects).sum();
                assertEquals(Long.parseLong(words[3]), made, line);
                assertEquals(Long.parseLong(words[4]), live(sites, words[1], words[2]), line + " live");
                compared++;
            }
        }
        assertEquals(19, compared);
    }

    private static long live(SiteList sites, String className, String method) {
        return sites.sites.stream().filter(site -> isAt(site, className, method)).mapToLong(site -> site.liveObjects).sum();
    }

    /** Objects of a class that this method of the subject made; what the JDK makes of it counts elsewhere. */
    private static boolean isAt(SiteList.Site site, String className, String method) {
        return site.className.equals(className) && !site.frames.isEmpty()
                && site.frames.get(0).startsWith("sites.Counts") && site.frames.get(0).contains("." + method + "(");
    }
}
