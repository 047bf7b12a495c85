// report  prometheus/client_java#770
// leaks   io.prometheus:simpleclient:0.16.0
// mended  use: no user in a label
// java    11
// class   io.prometheus.client.Histogram$Child
// number  10000
// holder  children|LATENCY\b|\bHistogram(?!\$)\b
// reason  (?i)\buser\b|label
// change  the label user has a value for each user: leave it out
package leaks;

import io.prometheus.client.Histogram;

public final class Prometheus770 {
    static final Histogram LATENCY = Histogram.build("latency", "by user").labelNames("path", "user").register();

    public static void main(String[] args) {
        for (int i = 0; i < 10_000; i++) {
            LATENCY.labels("/orders", args.length > 0 ? "any" : "user-" + i).observe(i);
        }
    }
}
