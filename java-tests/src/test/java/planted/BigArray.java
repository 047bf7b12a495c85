package planted;

import java.util.ArrayList;
import java.util.List;

/** Many small arrays that leak, and beside them one large one that does not: the line of the small ones is the culprit. */
@Leak(dump = "heap=all",
        first = {"holder: static planted.BigArray RECORDS", "site: since 11 line BigArray.java allocates the small ones",
            "objects: count 260000 byte[]"})
public final class BigArray {
    static final List<byte[]> RECORDS = new ArrayList<>();

    private BigArray() {}

    public static void main(String[] args) {
        Service.start();
        tables();
        for (int i = 0; i < 260_000; i++) {
            record();
        }
        Service.ready();
    }

    private static void record() {
        RECORDS.add(new byte[56]); // allocates the small ones
    }

    private static void tables() {
        RECORDS.add(new byte[2_000_000]);
    }
}
