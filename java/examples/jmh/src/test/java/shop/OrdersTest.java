package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collection;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/** The bytes are those that JMH's own profiler finds, and the sites are the lines that allocate. */
class OrdersTest {
    private static final Map<String, String> SITES = Map.of(
            "names", "shop.Orders.names(Orders.java:21)",
            "receipt", "byte[]\n                     at shop.Orders.receipt(Orders.java:30)",
            "totals", "shop.Orders.totals(Orders.java:38)");

    @Test
    void bytesAndSitesAreTold() throws RunnerException {
        Collection<RunResult> runs = new Runner(new OptionsBuilder().include("shop.Orders.*").forks(1).threads(2)
                .warmupIterations(2).warmupTime(TimeValue.seconds(1))
                .measurementIterations(3).measurementTime(TimeValue.seconds(1))
                .addProfiler("gc").addProfiler("hprof").build()).run();
        assertEquals(SITES.size(), runs.size());
        for (RunResult run : runs) {
            Map<String, Result> found = run.getSecondaryResults();
            double counted = found.get("gc.alloc.rate.norm").getScore();
            double estimated = found.get("hprof.alloc.norm").getScore();
            assertEquals(1, estimated / counted, 0.1, run.getPrimaryResult().getLabel());
            assertTrue(found.get("hprof.sites").getScore() >= 1, "the number of sites");
            String sites = found.get("hprof.sites").extendedInfo();
            assertTrue(sites.contains(SITES.get(run.getPrimaryResult().getLabel())), sites);
        }
    }
}
