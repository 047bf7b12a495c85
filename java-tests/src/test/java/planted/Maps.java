package planted;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;

/** One kind of map each. */
final class Maps {
    private Maps() {}

    static final class Invoice {
        final long[] amounts = new long[30];
    }

    @Leak(first = {"holder: static planted.Maps$OfLists INVOICES", "objects: count 100000 planted.Maps$Invoice"},
            screen = {"lists: says (?i)ArrayList", "size: bytes 27400000 ."})
    public static final class OfLists {
        static final Map<String, List<Invoice>> INVOICES = new HashMap<>();

        public static void main(String[] args) {
            Service.start();
            for (int i = 0; i < 100_000; i++) {
                INVOICES.computeIfAbsent("customer " + i / 50, customer -> new ArrayList<>()).add(new Invoice());
            }
            Service.ready();
        }
    }

    static final class Document {
        final byte[] text = new byte[600];
    }

    /** Tenants have users, and these have documents. */
    @Leak(first = {"holder: static planted.Maps$Nested TENANTS", "objects: count 40000 planted.Maps$Document"},
            screen = {"maps: says HashMap"})
    public static final class Nested {
        static final Map<String, Map<String, Map<Integer, Document>>> TENANTS = new HashMap<>();

        public static void main(String[] args) {
            Service.fill(40_000, i -> TENANTS.computeIfAbsent("tenant " + i % 20, tenant -> new HashMap<>())
                    .computeIfAbsent("user " + i % 1_000, user -> new HashMap<>()).put(i, new Document()));
        }
    }

    /** Its hash takes few values, so the map makes trees. */
    static final class Place implements Comparable<Place> {
        final int number;

        Place(int number) {
            this.number = number;
        }

        @Override
        public int hashCode() {
            return number % 16;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Place && ((Place) other).number == number;
        }

        @Override
        public int compareTo(Place other) {
            return Integer.compare(number, other.number);
        }
    }

    static final class Weather {
        final float[] hours = new float[100];
    }

    @Leak(first = {"holder: static planted.Maps$Colliding WEATHER", "objects: count 50000 planted.Maps$Weather",
            "map: says ConcurrentHashMap(?!\\$)"})
    public static final class Colliding {
        static final Map<Place, Weather> WEATHER = new ConcurrentHashMap<>();

        public static void main(String[] args) {
            Service.fill(50_000, i -> WEATHER.put(new Place(i), new Weather()));
        }
    }

    enum Region { NORTH, EAST, SOUTH, WEST }

    static final class Parcel {
        final byte[] label = new byte[400];
    }

    @Leak(first = {"holder: static planted.Maps$ByEnum PARCELS", "objects: count 60000 planted.Maps$Parcel"},
            screen = {"map: says EnumMap"})
    public static final class ByEnum {
        static final Map<Region, List<Parcel>> PARCELS = new EnumMap<>(Region.class);

        public static void main(String[] args) {
            Service.start();
            for (int i = 0; i < 60_000; i++) {
                PARCELS.computeIfAbsent(Region.values()[i % 4], region -> new ArrayList<>()).add(new Parcel());
            }
            Service.ready();
        }
    }

    static final class Proxy {
        final Object target = new byte[500];
    }

    @Leak(first = {"holder: static planted.Maps$ByIdentity PROXIES", "objects: count 50000 planted.Maps$Proxy"},
            screen = {"map: says IdentityHashMap"})
    public static final class ByIdentity {
        static final Map<Object, Proxy> PROXIES = new IdentityHashMap<>();

        public static void main(String[] args) {
            Service.fill(50_000, i -> PROXIES.put(new Object(), new Proxy()));
        }
    }

    static final class Price {
        final long[] digits = new long[24];
    }

    @Leak(first = {"holder: static planted.Maps$SkipList PRICES", "objects: count 100000 planted.Maps$Price",
            "map: says ConcurrentSkipListMap(?!\\$)"})
    public static final class SkipList {
        static final Map<Long, Price> PRICES = new ConcurrentSkipListMap<>();

        public static void main(String[] args) {
            Service.start();
            for (long i = 0; i < 100_000; i++) {
                PRICES.put(i * 1_000, new Price());
            }
            Service.ready();
        }
    }

    @Leak(first = {"holder: static planted.Maps$Sorted PRICES", "objects: count 100000 planted.Maps$Price",
            "map: says TreeMap(?!\\$)"})
    public static final class Sorted {
        static final Map<Long, Price> PRICES = new TreeMap<>();

        public static void main(String[] args) {
            Service.start();
            for (long i = 0; i < 100_000; i++) {
                PRICES.put(i * 1_000, new Price());
            }
            Service.ready();
        }
    }

    static final class Plan {
        final byte[] code = new byte[20_000];
    }

    /** What is known of each class, of which more and more are made. */
    @Leak(first = {"holder: static planted.Maps$ByClass PLANS", "objects: count 1500 planted.Maps$Plan"},
            screen = {"map: says HashMap"})
    public static final class ByClass {
        static final Map<Class<?>, Plan> PLANS = new HashMap<>();

        public static void main(String[] args) {
            Service.start();
            for (int i = 0; i < 1_500; i++) {
                PLANS.put(java.lang.reflect.Proxy.getProxyClass(new WebappLoader(i), Runnable.class), new Plan());
            }
            Service.ready();
        }
    }
}
