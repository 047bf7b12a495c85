package sites;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Beside;
import harness.Collector;
import harness.Engine;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Setup;
import harness.SiteList;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** Allocation sites: who allocated what is alive, in the table, in the text and in the dump's objects. */
class SitesTest {
    /** The line of the leak is in a method of its own. */
    private static final String LEAKING = "sites.Leak.leak(Leak.java:";
    /** An estimate farther away than this many standard errors is wrong: all of the estimates together, one in a million by chance. */
    private static final double STANDARD_ERRORS = 6;
    private static final int SAMPLING_BYTES = 32 * 1024;

    @TempDir Path folder;

    static List<Jdk> since11() {
        return Jdks.since(11);
    }

    static Stream<Setup> collectors() {
        // From 23 on ZGC has two generations anyway.
        Setup generations = Setup.of(Jdks.of(21), Collector.ZGC, "-XX:+ZGenerational");
        return Stream.concat(Setup.matrix().stream().filter(setup -> setup.jdk.major >= 11), Stream.of(generations));
    }

    @ParameterizedTest
    @Beside
    @Rows("since11")
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
    @Beside
    void aDumpByHotSpotTellsThatItHasNoStacks() {
        Path dump = folder.resolve("out.hprof");
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).agent("heap=all,verbose=n,doe=n,stop=always,file=" + dump).run(Leak.class).ready()) {
            jvm.signal("QUIT");
            String end = jvm.dumped(1);
            assertTrue(end.endsWith("engine hotspot" + Engine.HOTSPOTS + "; without allocation stacks"), end);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        new HprofCheck(dump).good();
    }

    @ParameterizedTest
    @Beside
    @Rows("collectors")
    void estimatesAreUnbiasedForEverySizeAndAfterCollections(Setup setup) {
        Path file = folder.resolve("sites.hprof");
        try (Jvm jvm = setup.on(folder).agent("heap=sites,cutoff=0,maxcost=0,sampling=" + SAMPLING_BYTES + ",file=" + file)
                .run(Sizes.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            SiteList sites = new SiteList(file, "sites");
            jvm.out.numbers("MADE").forEach((name, made) -> {
                Estimate estimate = new Estimate(sites, name, setup);
                estimate.near("allocated", made, sites.allocatedObjects(name));
                // One in four lives.
                estimate.near("live", made / 4.0, sites.liveObjects(name));
            });
        }
    }

    /** What is sampled with the chance p is counted with the variance (1 - p) / p for each object. */
    private static final class Estimate {
        final String name;
        final double chance;
        final double surplus;

        Estimate(SiteList sites, String className, Setup setup) {
            double live = sites.liveObjects(className);
            assertTrue(live > 0, () -> setup + " " + className + ": " + sites.sites);
            name = setup + " " + className;
            chance = 1 - Math.exp(-(sites.liveBytes(className) / live) / SAMPLING_BYTES);
            boolean isAsLargeAsTheDistance = chance > 0.2 && chance < 0.9;
            surplus = isAsLargeAsTheDistance ? surplus(setup) : 0;
        }

        /**
         * HotSpot samples up to so much too often where objects are about as large as the distance of samples: what is left of a
         * thread's buffer is counted once more with each object that does not fit (JDK-8356372, repaired in 25). ZGC's buffers are
         * small; 17 and 21 were a twentieth above the truth in the mean of 40 runs.
         */
        private static double surplus(Setup setup) {
            if (setup.jdk.major >= 25 || setup.jdk.major >= 17 && setup.collector != Collector.ZGC) {
                return 0;
            }
            return setup.jdk.major < 17 ? 0.5 : 0.2;
        }

        void near(String what, double truth, double estimate) {
            double standardError = Math.sqrt(truth * (1 - chance) / chance);
            // One more for roundings.
            double most = STANDARD_ERRORS * standardError + 1;
            assertTrue(truth - most <= estimate && estimate <= truth * (1 + surplus) + most,
                    name + " " + what + ": " + estimate + " for " + truth + ", allowed " + most);
        }
    }

    @Test
    @Beside
    void java8SaysThatItCannotSample() throws IOException {
        List<Jdk> eights = Jdks.majors();
        eights.removeIf(jdk -> jdk.major != 8);
        for (Jdk jdk : eights) {
            try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=all,file=" + folder.resolve("out.hprof")).run(Leak.class).ready()) {
                assertEquals(0, jvm.end(), jvm.err::text);
                assertTrue(jvm.err.text().contains("hprof-rs: heap dumps will have no allocation sites"), jvm.err::text);
                assertTrue(jvm.err.text().contains("heap=all,sampling=0"), jvm.err::text);
                new HprofCheck(folder.resolve("out.hprof")).good();
            }
            // Nobody has asked for sites.
            Path dump = folder.resolve("none.hprof");
            try (Jvm jvm = Jvm.on(jdk, folder).agent("file=" + dump).run(Leak.class).ready()) {
                assertEquals(0, jvm.end(), jvm.err::text);
                assertFalse(jvm.err.text().contains("sites"), jvm.err::text);
                new HprofCheck(dump).good();
            }
            // Sites alone are counted exactly, as the JDK's agent did; and verbose=n prints nothing about success.
            Path report = folder.resolve("sites.txt");
            try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=sites,verbose=n,file=" + report).run(Leak.class).ready()) {
                assertEquals(0, jvm.end(), jvm.err::text);
                assertEquals("", jvm.err.text());
                assertTrue(Files.readString(report).contains("SITES BEGIN"), () -> report + "");
            }
        }
    }
}
