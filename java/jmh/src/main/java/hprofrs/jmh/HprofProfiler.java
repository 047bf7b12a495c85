package hprofrs.jmh;

import hprofrs.HeapDumper;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;
import org.openjdk.jmh.runner.IterationType;

/**
 * Bytes for each operation, and the stacks that allocate them, by samples of the allocations.
 *
 * <p>It starts the JVM of a benchmark with the agent, and asks it in that JVM for its allocation sites before and after
 * each iteration. What was allocated between is the iteration's.
 */
public class HprofProfiler implements ExternalProfiler, InternalProfiler {
    private final String agentOptions;
    private final int top;
    private Sites before;

    /**
     * For JMH.
     *
     * @param options as text, {@code sampling=64k;top=5}: {@code top} is how many sites are printed, 10 by default, and all
     *     others are the agent's
     */
    public HprofProfiler(String options) throws ProfilerException {
        StringBuilder others = new StringBuilder();
        int printed = SitesResult.TOP;
        for (String option : options.split(";")) {
            if (option.startsWith("top=")) {
                printed = number(option.substring("top=".length()));
            } else if (option.indexOf('=') > 0) {
                others.append(',').append(option);
            } else if (!option.isEmpty()) {
                throw new ProfilerException("an option of hprof has a name and a value, as sampling=64k: " + option);
            }
        }
        agentOptions = others.toString();
        top = printed;
    }

    private static int number(String text) throws ProfilerException {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new ProfilerException("top= takes a number: " + text);
        }
    }

    @Override
    public String getDescription() {
        return "Bytes for each operation, and the stacks that allocate them (hprof-rs)";
    }

    @Override
    public Collection<String> addJVMInvokeOptions(BenchmarkParams params) {
        return Collections.emptyList();
    }

    @Override
    public Collection<String> addJVMOptions(BenchmarkParams params) {
        Path library;
        try {
            library = HeapDumper.library();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        // The jar in that JVM must load the same file: a copy would be another agent, which has seen no allocations.
        return Arrays.asList("-agentpath:" + library + "=heap=sites,doe=n,maxcost=0" + agentOptions,
                "-Dhprofrs.library=" + library);
    }

    @Override
    public void beforeTrial(BenchmarkParams params) {
        // The agent is there from the start.
    }

    @Override
    public Collection<? extends Result<?>> afterTrial(BenchmarkResult result, long pid, File out, File err) {
        return Collections.emptyList();
    }

    @Override
    public boolean allowPrintOut() {
        return true;
    }

    @Override
    public boolean allowPrintErr() {
        return true;
    }

    @Override
    public void beforeIteration(BenchmarkParams params, IterationParams iteration) {
        if (iteration.getType() == IterationType.MEASUREMENT) {
            before = sites();
        }
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams params, IterationParams iteration, IterationResult result) {
        if (iteration.getType() != IterationType.MEASUREMENT) {
            return Collections.emptyList();
        }
        Sites allocated = sites().since(before);
        long operations = result.getMetadata().getAllOps();
        double norm = operations == 0 ? Double.NaN : allocated.bytes() / (double) operations;
        return Arrays.asList(
                new ScalarResult("hprof.alloc.norm", norm, "B/op", AggregationPolicy.AVG),
                new SitesResult(allocated, operations, top));
    }

    private static Sites sites() {
        try {
            Path folder = Files.createTempDirectory("hprof-rs");
            Path report = folder.resolve("sites.txt");
            try {
                HeapDumper.sites(report);
                return Sites.read(report);
            } finally {
                Files.deleteIfExists(report);
                Files.delete(folder);
            }
        } catch (IOException e) {
            throw new IllegalStateException("no allocation sites: " + e.getMessage() + " (-prof hprof needs a fork)", e);
        }
    }
}
