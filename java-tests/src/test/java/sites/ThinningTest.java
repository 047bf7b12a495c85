package sites;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Command;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.SiteList;
import harness.Tools;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;

/** Where samples are left out or forgotten, those that are left count for them, and the estimates stay unbiased. */
@Isolated("leaves out samples by the time that they take")
class ThinningTest {
    /** An estimate farther away than this many of its standard errors, of 32 ways, is wrong: one in a million by chance. */
    private static final double STANDARD_ERRORS = 7;
    /** A standard error larger than this says too little about the truth; 0.065 where most samples are left out. */
    private static final double MOST_ERROR = 0.1;
    /** What is sampled almost always differs by chance hardly at all, but numbers are rounded. */
    private static final double ROUNDING = 1;
    private static final int MOST_LIVE = 8192;
    private static final int LEAST_LEFT_OUT = 10;
    private static final Pattern LEFT_OUT = Pattern.compile("([0-9]+) % of the samples skipped to save time");

    private static final Pattern REMEMBERED = Pattern.compile("estimated from ([0-9,]+) objects with a stack");

    @TempDir Path folder;

    static List<Jdk> since11() {
        return Jdks.since(11);
    }

    @Test
    void withFewSamplesRememberedTheEstimatesStayUnbiased() {
        run(Jdks.of(17), "heap=all,maxcost=0,maxlive=" + MOST_LIVE);
        // Of 64,000 samples 16,000 live.
        String said = Command.run(Tools.command(), "sites", file(), "--from", "dump").good().out;
        Matcher carried = REMEMBERED.matcher(said);
        assertTrue(carried.find(), said);
        long remembered = Long.parseLong(carried.group(1).replace(",", ""));
        assertTrue(remembered > 0 && remembered <= MOST_LIVE, "remembered: " + remembered);
    }

    @ParameterizedTest
    @Rows("since11")
    void whereSamplesWouldTakeTooLongTheEstimatesStayUnbiased(Jdk jdk) {
        // In less than a second a thread would have 64,000 samples, and may pay for a fifth of them.
        String said = run(jdk, "heap=sites,maxcost=10");
        Matcher leftOut = LEFT_OUT.matcher(said);
        assertTrue(leftOut.find() && Integer.parseInt(leftOut.group(1)) >= LEAST_LEFT_OUT, said);
    }

    private Path file() {
        return folder.resolve("sites.hprof");
    }

    /** Compares the estimates with the truth, and returns the agent's output. */
    private String run(Jdk jdk, String options) {
        try (Jvm jvm = Jvm.on(jdk, folder).agent(options + ",cutoff=0,sampling=1k,file=" + file()).run(Ways.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            SiteList sites = new SiteList(file(), "sites");
            Map<String, Long> made = jvm.out.numbers("MADE");
            assertEquals(2, made.size(), jvm.out::text);
            made.forEach((name, ofAWay) -> {
                near(jdk + " allocated " + name, ways(sites, name, site -> site.allocatedObjects), ofAWay);
                // One in four lives.
                near(jdk + " live " + name, ways(sites, name, site -> site.liveObjects), ofAWay / 4.0);
            });
            return jvm.err.text();
        }
    }

    /** The estimates of each way, 0 where it has no sample. */
    private static double[] ways(SiteList sites, String className, ToLongFunction<SiteList.Site> number) {
        Map<List<String>, Long> found = sites.sites.stream().filter(site -> site.className.equals(className))
                .collect(Collectors.groupingBy(site -> site.frames, Collectors.summingLong(number)));
        assertTrue(found.size() <= Ways.WAYS, found::toString);
        return Arrays.copyOf(found.values().stream().mapToDouble(way -> way).toArray(), Ways.WAYS);
    }

    /** Ways differ from each other by chance; that shows how far off their mean may be. */
    private static void near(String what, double[] ways, double truth) {
        double mean = Arrays.stream(ways).average().orElseThrow();
        double variance = Arrays.stream(ways).map(way -> (way - mean) * (way - mean)).sum() / (ways.length - 1);
        double standardError = Math.sqrt(variance / ways.length);
        String all = what + ": " + mean + " for " + truth + ", standard error " + standardError;
        assertTrue(standardError <= MOST_ERROR * truth, all);
        assertTrue(Math.abs(mean - truth) <= STANDARD_ERRORS * standardError + ROUNDING, all);
    }
}
