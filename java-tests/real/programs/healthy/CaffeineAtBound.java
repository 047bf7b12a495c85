// uses     com.github.ben-manes.caffeine:caffeine:2.9.3
// java     17
// largest  (?i)caffeine|cache|Product\b|PRODUCTS
package healthy;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

/** A cache that has been full for long. */
public final class CaffeineAtBound {
    static final Cache<Integer, Product> PRODUCTS = Caffeine.newBuilder().maximumSize(10_000).executor(Runnable::run).build();

    static final class Product {
        final byte[] page = new byte[1000];
    }

    public static void main(String[] args) {
        for (int i = 0; i < 100_000; i++) {
            PRODUCTS.get(i, number -> new Product());
        }
        PRODUCTS.cleanUp();
    }
}
