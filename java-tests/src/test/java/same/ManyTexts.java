package same;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** Strings of both encodings, wide maps and a deep list. Runs on Java 8. */
class ManyTexts {
    private static final int DEEP = 100_000;
    private static final int WIDE = 3_000;

    static final class Link {
        Link next;
        int number;

        Link(Link next, int number) {
            this.next = next;
            this.number = number;
        }
    }

    private ManyTexts() {}

    static List<Object> all() {
        List<Object> all = new ArrayList<>();
        Collections.addAll(all, "", "latin", "caf\u00e9 \u00ff", "\u4e2d\u6587", "\ud83d\ude00", "a\u0000b", "lone \ud83d");
        all.add(repeat("latin ", 20_000));
        all.add(repeat("wide \u4e2d ", 20_000));
        all.add(new String("of its own"));
        all.add(("int" + "erned" + all.size()).intern());
        maps(all);
        Link link = null;
        for (int i = 0; i < DEEP; i++) {
            link = new Link(link, i);
        }
        all.add(link);
        all.add(new BigDecimal(BigInteger.ONE.shiftLeft(500), 17));
        all.add(new UUID(1, 2));
        all.add(BitSet.valueOf(new long[] {1, 2, 3}));
        return all;
    }

    private static void maps(List<Object> all) {
        Map<Object, Object> hash = new HashMap<>();
        Map<Object, Object> concurrent = new ConcurrentHashMap<>();
        Map<Object, Object> tree = new TreeMap<>();
        for (int i = 0; i < WIDE; i++) {
            hash.put("key " + i, i);
            concurrent.put((long) i, (double) i);
            tree.put((char) i, (short) i);
        }
        Collections.addAll(all, hash, concurrent, tree);
    }

    private static String repeat(String text, int times) {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < times; i++) {
            all.append(text);
        }
        return all.toString();
    }
}
