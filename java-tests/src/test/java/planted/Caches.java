package planted;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import com.google.common.collect.ArrayListMultimap;
import com.google.common.collect.Multimap;

/** Caches of Guava and Caffeine with no bounds, and Guava's multimap. */
final class Caches {
    private Caches() {}

    static final class Translation {
        final char[] text = new char[250];
    }

    @Leak(jars = {"guava-", "failureaccess"},
            first = {"holder: static planted.Caches$Guava TRANSLATIONS", "objects: count 50000 planted.Caches$Translation",
            "cache: says LocalCache|LocalManualCache"})
    public static final class Guava {
        static final Cache<String, Translation> TRANSLATIONS = CacheBuilder.newBuilder().build();

        public static void main(String[] args) {
            Service.fill(50_000, i -> TRANSLATIONS.put("message " + i, new Translation()));
        }
    }

    static final class Vote {
        final long[] answers = new long[25];
    }

    @Leak(jars = "guava-",
            first = {"holder: static planted.Caches$GuavaMultimap VOTES", "objects: count 100000 planted.Caches$Vote",
            "map: says ArrayListMultimap"})
    public static final class GuavaMultimap {
        static final Multimap<String, Vote> VOTES = ArrayListMultimap.create();

        public static void main(String[] args) {
            Service.fill(100_000, i -> VOTES.put("poll " + i % 3_000, new Vote()));
        }
    }

    /** Bounded by a number that nobody reaches. */
    @Leak(jars = "caffeine",
            first = {"objects: count 40000 planted.Caches$Translation", "holder: static planted.Caches$WithCaffeine TRANSLATIONS",
            "cache: says (?i)caffeine|BoundedLocalCache"})
    public static final class WithCaffeine {
        static final com.github.benmanes.caffeine.cache.Cache<String, Translation> TRANSLATIONS =
                Caffeine.newBuilder().maximumSize(1_000_000).build();

        public static void main(String[] args) {
            Service.start();
            for (int i = 0; i < 40_000; i++) {
                TRANSLATIONS.put("message " + i, new Translation());
            }
            TRANSLATIONS.cleanUp();
            Service.ready();
        }
    }
}
