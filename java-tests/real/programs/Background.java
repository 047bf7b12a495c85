import java.math.BigDecimal;
import java.net.URI;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;

/** Four megabytes of a service that does not leak: of many kinds, in many places, none of them large. */
final class Background {
    static final class Table {
        static final long[] ALL = new long[30_000];
    }

    static final class Codes {
        static final int[] ALL = new int[60_000];
    }

    static final class Page {
        static final byte[] ALL = new byte[240_000];
    }

    static final class Text {
        static final StringBuilder ALL = new StringBuilder(240_000);
    }

    static final class Flags {
        static final BitSet ALL = new BitSet(1_920_000);
    }

    static final class Prices {
        static final List<BigDecimal> ALL = new ArrayList<>();
    }

    static final class Requests {
        static final ArrayDeque<UUID> ALL = new ArrayDeque<>();
    }

    static final class Days {
        static final LinkedList<LocalDate> ALL = new LinkedList<>();
    }

    static final class Links {
        static final Map<Integer, URI> ALL = new ConcurrentHashMap<>();
    }

    static final class Times {
        static final Map<Integer, Instant> ALL = new ConcurrentSkipListMap<>();
    }

    static final class Settings {
        static final Properties ALL = new Properties();
    }

    static final class Counts {
        static final Map<Integer, Long> ALL = new HashMap<>();
    }

    static final class Names {
        static final Map<String, Character> ALL = new TreeMap<>();
    }

    static void fill() {
        Object[] arrays = {Table.ALL, Codes.ALL, Page.ALL, Text.ALL, Flags.ALL};
        for (int i = 0; i < 2_500; i++) {
            Prices.ALL.add(new BigDecimal("1234567.89" + i));
            Requests.ALL.add(new UUID(i, arrays.length));
            Requests.ALL.add(new UUID(-i, arrays.length));
            Days.ALL.add(LocalDate.ofEpochDay(i));
            Days.ALL.add(LocalDate.ofEpochDay(-i));
            Times.ALL.put(i, Instant.ofEpochSecond(i));
            Counts.ALL.put(i + 1000, i * 1000L + 200);
            if (i % 2 == 0) {
                Links.ALL.put(i, URI.create("http://shop/" + i));
                Settings.ALL.setProperty("service.setting." + i, "value " + i);
                Names.ALL.put("name of product number " + i, 'a');
            }
        }
    }
}
