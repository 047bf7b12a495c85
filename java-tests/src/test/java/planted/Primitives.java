package planted;

import com.carrotsearch.hppc.IntObjectHashMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.objects.Object2ObjectOpenHashMap;
import org.agrona.collections.Int2ObjectHashMap;
import org.eclipse.collections.impl.map.mutable.UnifiedMap;
import org.eclipse.collections.impl.map.mutable.primitive.LongObjectHashMap;

/** Maps of libraries whose keys are numbers, or that have no entries: arrays of keys beside arrays of values. */
final class Primitives {
    private Primitives() {}

    static final class Quote {
        final double[] prices = new double[30];
    }

    @Leak(jars = "fastutil",
            first = {"holder: static planted.Primitives$Fastutil QUOTES", "objects: count 90000 planted.Primitives$Quote",
            "map: says Long2ObjectOpenHashMap"})
    public static final class Fastutil {
        static final Long2ObjectOpenHashMap<Quote> QUOTES = new Long2ObjectOpenHashMap<>();

        public static void main(String[] args) {
            Service.start();
            for (long i = 0; i < 90_000; i++) {
                QUOTES.put(i * 17, new Quote());
            }
            Service.ready();
        }
    }

    /** Keys and values in arrays of their own. */
    @Leak(jars = "fastutil",
            first = {"holder: static planted.Primitives$FastutilObjects QUOTES", "objects: count 90000 planted.Primitives$Quote",
            "map: says Object2ObjectOpenHashMap"})
    public static final class FastutilObjects {
        static final Object2ObjectOpenHashMap<String, Quote> QUOTES = new Object2ObjectOpenHashMap<>();

        public static void main(String[] args) {
            Service.fill(90_000, i -> QUOTES.put("quote " + i, new Quote()));
        }
    }

    @Leak(jars = "hppc",
            first = {"holder: static planted.Primitives$Hppc QUOTES", "objects: count 90000 planted.Primitives$Quote",
            "map: says IntObjectHashMap"})
    public static final class Hppc {
        static final IntObjectHashMap<Quote> QUOTES = new IntObjectHashMap<>();

        public static void main(String[] args) {
            Service.fill(90_000, i -> QUOTES.put(i, new Quote()));
        }
    }

    @Leak(jars = "agrona",
            first = {"holder: static planted.Primitives$Agrona QUOTES", "objects: count 90000 planted.Primitives$Quote",
            "map: says Int2ObjectHashMap"})
    public static final class Agrona {
        static final Int2ObjectHashMap<Quote> QUOTES = new Int2ObjectHashMap<>();

        public static void main(String[] args) {
            Service.fill(90_000, i -> QUOTES.put(i, new Quote()));
        }
    }

    /** A map without entries: keys and values take turns in one array. */
    @Leak(jars = {"eclipse-collections-1", "eclipse-collections-api"},
            first = {"holder: static planted.Primitives$Unified QUOTES", "objects: count 90000 planted.Primitives$Quote",
            "map: says UnifiedMap"})
    public static final class Unified {
        static final UnifiedMap<String, Quote> QUOTES = new UnifiedMap<>();

        public static void main(String[] args) {
            Service.fill(90_000, i -> QUOTES.put("quote " + i, new Quote()));
        }
    }

    @Leak(jars = {"eclipse-collections-1", "eclipse-collections-api"},
            first = {"holder: static planted.Primitives$EclipseLongs QUOTES", "objects: count 90000 planted.Primitives$Quote",
            "map: says LongObjectHashMap"})
    public static final class EclipseLongs {
        static final LongObjectHashMap<Quote> QUOTES = new LongObjectHashMap<>();

        public static void main(String[] args) {
            Service.start();
            for (long i = 0; i < 90_000; i++) {
                QUOTES.put(i, new Quote());
            }
            Service.ready();
        }
    }
}
