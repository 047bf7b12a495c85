package sites;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Setup;
import harness.SiteList;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Allocation sites: who allocated what is alive, in the table, in the text and in the dump's objects. */
class SitesTest {
    /** The line of the leak is in a method of its own. */
    private static final String LEAKING = "sites.Leak.leak(Leak.java:";
    /** An estimate farther away than so many standard errors is wrong: one in a million by chance. */
    private static final double STANDARD_ERRORS = 5;
    private static final Pattern LEFT_OUT = Pattern.compile("([0-9]+) % of the samples left out to spare time");

    /** HotSpot 11 samples up to so much too often where objects are about as large as the distance of samples. */
    private static final double SURPLUS_OF_11 = 0.5;

    @TempDir Path folder;

    static List<Jdk> since11() {
        return Jdks.since(11);
    }

    static Stream<Setup> collectors() {
        return Setup.matrix().stream().filter(setup -> setup.jdk.major >= 11);
    }

    @ParameterizedTest
    @MethodSource("since11")
    void aReportIsText(Jdk jdk) throws IOException {
        Path report = folder.resolve("sites.txt");
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=sites,sampling=64k,file=" + report).run(Leak.class).ready()) {
            jvm.signal("QUIT");
            jvm.err.await("hprof-rs: wrote " + report, Jvm.LIMIT);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        List<String> lines = Files.readAllLines(report);
        assertTrue(lines.get(0).startsWith("JAVA PROFILE 1.0.1, created "), lines.get(0));
        int begin = lines.indexOf(lines.stream().filter(line -> line.startsWith("SITES BEGIN")).findFirst().orElseThrow());
        String[] first = lines.get(begin + 3).trim().split(" +");
        assertEquals("1", first[0]);
        assertEquals("byte[]", first[8]);
        int trace = lines.indexOf("TRACE " + first[7] + ":");
        assertTrue(trace > 0 && lines.get(trace + 1).trim().startsWith(LEAKING), () -> lines.get(trace + 1));
        assertTrue(Files.exists(folder.resolve("sites.1.txt")), "one report for the signal and one at the end");
    }

    @Test
    void everyEngineTellsTheSameStacks() {
        Set<String> told = new HashSet<>();
        Jdk jdk = Jdks.of(17);
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=all,sampling=64k,doe=n").run(Leak.class).ready()) {
            for (String engine : List.of("snapshot=fork", "snapshot=pause", "engine=portable")) {
                Path dump = folder.resolve(engine.replace('=', '-') + ".hprof");
                assertTrue(jvm.attach("heap=dump," + engine + ",file=" + dump).out.contains("return code: 0"), jvm.err::text);
                new HprofCheck(dump).good();
                SiteList.Site first = new SiteList(dump, "dump").sites.get(0);
                told.add(first.className + " " + first.liveObjects + " " + first.frames);
            }
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        assertEquals(1, told.size(), told::toString);
    }

    @ParameterizedTest
    @MethodSource("collectors")
    void estimatesAreUnbiasedForEverySizeAndAfterCollections(Setup setup) {
        estimate(setup, 32 * 1024, ",maxcost=0", 1);
    }

    @Test
    void withFewSamplesRememberedTheEstimatesStayUnbiased() {
        // A bound of 512 for some 13,000 samples: each that is left stands for 16 to 32.
        estimate(Setup.of(Jdks.of(17), harness.Collector.G1), 32 * 1024, ",maxcost=0,maxlive=512", 40);
    }

    @ParameterizedTest
    @MethodSource("since11")
    void whereSamplesWouldTakeTooLongTheEstimatesStayUnbiased(Jdk jdk) {
        // Some 50,000 samples in less than a second, and what a thread begins with does not do for half of them.
        double leftOut = estimate(Setup.of(jdk, harness.Collector.G1), 1024, ",maxcost=1", 1);
        assertTrue(leftOut > 0, "all samples were taken");
    }

    /** Answers which share of the samples was left out; of those that live, one stands for `thinning` at most. */
    private double estimate(Setup setup, int samplingBytes, String options, double thinning) {
        Path file = folder.resolve("sites.hprof");
        try (Jvm jvm = setup.on(folder)
                .agent("heap=sites,cutoff=0,sampling=" + samplingBytes + options + ",file=" + file).run(Sizes.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            Matcher said = LEFT_OUT.matcher(jvm.err.text());
            double leftOut = said.find() ? Integer.parseInt(said.group(1)) / 100.0 : 0;
            // For how many one stands differs from time to time; for more than these only if each took a tenth of a millisecond.
            double standsFor = leftOut == 0 ? 1 : 256;
            SiteList sites = new SiteList(file, "sites");
            for (String line : jvm.out.lines()) {
                String[] words = line.split(" ");
                // Of few large ones there may be no sample left.
                if (words[0].equals("MADE") && (leftOut == 0 || sites.liveObjects(words[1]) > 0)) {
                    Estimate estimate = new Estimate(sites, words[1], samplingBytes, setup);
                    long made = Long.parseLong(words[2]);
                    estimate.near("allocated", made, sites.allocatedObjects(words[1]), standsFor);
                    // One in four lives.
                    estimate.near("live", made / 4.0, sites.liveObjects(words[1]), Math.max(standsFor, thinning));
                }
            }
            return leftOut;
        }
    }

    /** What is sampled with the chance p is counted with the variance (1 - p) / p for each object. */
    private static final class Estimate {
        final String name;
        final double chance;
        final double surplus;

        Estimate(SiteList sites, String className, int samplingBytes, Setup setup) {
            double live = sites.liveObjects(className);
            assertTrue(live > 0, () -> setup + " " + className + ": " + sites.sites);
            name = setup + " " + className;
            chance = 1 - Math.exp(-(sites.liveBytes(className) / live) / samplingBytes);
            surplus = setup.jdk.major < 17 ? SURPLUS_OF_11 : 0;
        }

        void near(String what, double truth, double estimate, double standsFor) {
            double standardError = Math.sqrt(truth * ((1 - chance) / chance + (standsFor - 1) / chance));
            // Two more: the subject makes an array of each class for its name, and roundings.
            double most = STANDARD_ERRORS * standardError + 2;
            assertTrue(truth - most <= estimate && estimate <= truth * (1 + surplus) + most,
                    name + " " + what + ": " + estimate + " for " + truth + ", allowed " + most);
        }
    }

    @ParameterizedTest
    @MethodSource("since11")
    void classesAreUnloadedAllTheSame(Jdk jdk) {
        Path report = folder.resolve("sites.txt");
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=sites,sampling=256,file=" + report).run(ManyLoaders.class).ready()) {
            String unloaded = jvm.out.lines().stream().filter(line -> line.startsWith("UNLOADED ")).findFirst().orElseThrow();
            long classes = Long.parseLong(unloaded.substring("UNLOADED ".length()));
            assertTrue(classes >= ManyLoaders.LOADERS - 1, unloaded);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        assertTrue(Files.exists(report));
    }

    @Test
    void java8SaysThatItCannotSample() {
        List<Jdk> eights = Jdks.majors();
        eights.removeIf(jdk -> jdk.major != 8);
        for (Jdk jdk : eights) {
            try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=all,file=" + folder.resolve("out.hprof")).run(Leak.class).ready()) {
                assertEquals(0, jvm.end(), jvm.err::text);
                assertTrue(jvm.err.text().contains("hprof-rs: no allocation sites: this JVM does not sample allocations"));
                new HprofCheck(folder.resolve("out.hprof")).good();
            }
        }
    }
}
