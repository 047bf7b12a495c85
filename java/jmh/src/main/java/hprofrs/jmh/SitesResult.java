package hprofrs.jmh;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map.Entry;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.Aggregator;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ResultRole;

/** The allocation sites of one iteration or of several, as JMH prints them below a benchmark. */
final class SitesResult extends Result<SitesResult> {
    /** Number of rows printed without an option. */
    static final int TOP = 10;

    private static final long serialVersionUID = 1;
    /** Frames that are printed. */
    private static final int DEPTH = 8;

    private final Sites sites;
    private final long operations;
    private final int top;

    SitesResult(Sites sites, long operations, int top) {
        super(ResultRole.SECONDARY, "hprof.sites", of(sites.ranked().size()), "sites", AggregationPolicy.AVG);
        this.sites = sites;
        this.operations = operations;
        this.top = top;
    }

    @Override
    protected Aggregator<SitesResult> getThreadAggregator() {
        return SitesResult::sum;
    }

    @Override
    protected Aggregator<SitesResult> getIterationAggregator() {
        return SitesResult::sum;
    }

    private static SitesResult sum(Collection<SitesResult> results) {
        return results.stream().reduce((a, b) -> new SitesResult(a.sites.and(b.sites), a.operations + b.operations, a.top))
                .orElseThrow(IllegalStateException::new);
    }

    @Override
    public String toString() {
        return "<see below>";
    }

    @Override
    public String extendedInfo() {
        StringBuilder text = new StringBuilder("Allocation sites, estimated from samples:\n      B/op       %  class\n");
        List<Entry<String, Long>> ranked = sites.ranked();
        double all = Math.max(sites.bytes(), 1);
        for (Entry<String, Long> site : ranked.subList(0, Math.min(top, ranked.size()))) {
            String[] lines = site.getKey().split("\n");
            text.append(String.format(Locale.ROOT, "%10.1f  %5.1f%%  %s%n", site.getValue() / (double) Math.max(operations, 1),
                    100 * site.getValue() / all, lines[0]));
            for (int frame = 1; frame < lines.length && frame <= DEPTH; frame++) {
                text.append("                     at ").append(lines[frame]).append('\n');
            }
        }
        if (ranked.size() > top) {
            text.append("... and ").append(ranked.size() - top).append(" more sites\n");
        }
        return text.toString();
    }
}
