// report  micrometer-metrics/micrometer#770
// leaks   io.micrometer:micrometer-core:1.9.17
// mended  use: the path's pattern as the tag
// java    17
// class   io.micrometer.core.instrument.Meter$Id io.micrometer.core.instrument.cumulative.CumulativeCounter
// number  20000
// holder  meterMap|REGISTRY\b|MeterRegistry\b
// reason  \buri\b
// change  the tag uri has a value for each user: use the pattern of the path
package leaks;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;

public final class Micrometer770 {
    static final SimpleMeterRegistry REGISTRY = new SimpleMeterRegistry();

    public static void main(String[] args) {
        for (int i = 0; i < 20_000; i++) {
            String uri = args.length > 0 ? "/users/{id}" : "/users/" + i;
            Counter.builder("http").tag("method", "GET").tag("uri", uri).register(REGISTRY).increment();
        }
    }
}
