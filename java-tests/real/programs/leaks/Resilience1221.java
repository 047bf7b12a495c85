// report  resilience4j/resilience4j#1221
// leaks   io.github.resilience4j:resilience4j-ratelimiter:1.7.1
// mended  use: forget the customer
// java    17
// class   io.github.resilience4j.ratelimiter.internal.AtomicRateLimiter
// number  10000
// holder  entryMap|LIMITS\b|InMemoryRegistryStore\b
// reason  (?i)differ only in|customer-|one for each|names made
// change  remove the limiter of a customer who is gone, or give the registry a bounded store
package leaks;

import io.github.resilience4j.ratelimiter.RateLimiterRegistry;

public final class Resilience1221 {
    static final RateLimiterRegistry LIMITS = RateLimiterRegistry.ofDefaults();

    public static void main(String[] args) {
        for (int i = 0; i < 10_000; i++) {
            LIMITS.rateLimiter("customer-" + i).acquirePermission();
            if (args.length > 0) {
                LIMITS.remove("customer-" + i);
            }
        }
    }
}
