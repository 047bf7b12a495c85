package sites;

import java.lang.reflect.Array;
import subject.FirstSample;
import subject.Say;

/**
 * Allocates in ways that bytecode does not show: native methods of the JDK make the objects, or what the compiler has in their
 * place. Prints how many objects of which class and of how many bytes each method made: {@code MADE class method objects bytes}.
 * Runs on Java 8.
 */
public final class Unshown {
    /** So much of each kind. */
    private static final int BYTES = 512 << 20;
    private static final int HEADER_BYTES = 16;
    private static final int LONGS = 500;
    private static final int INTS = 2000;
    /** A header and 31 fields. */
    private static final int WIDE_BYTES = HEADER_BYTES + 31 * 8;
    static volatile Object sink;

    /** An object as large as the fields of a class make it. */
    static final class Wide implements Cloneable {
        long a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z;
        long one, two, three, four, five;

        Object copy() throws CloneNotSupportedException {
            return super.clone();
        }
    }

    private Unshown() {}

    public static void main(String[] args) throws CloneNotSupportedException {
        FirstSample.pass();
        clones(BYTES / (HEADER_BYTES + 8 * LONGS));
        reflected(BYTES / (HEADER_BYTES + 4 * INTS));
        copies(BYTES / WIDE_BYTES);
        sink = null;
        Say.ready();
    }

    private static void clones(int count) {
        long[] original = new long[LONGS];
        for (int i = 0; i < count; i++) {
            sink = original.clone(); // by clones
        }
        Say.line("MADE", "long[]", "clones", count, HEADER_BYTES + 8 * LONGS);
    }

    private static void reflected(int count) {
        for (int i = 0; i < count; i++) {
            sink = Array.newInstance(int.class, INTS); // by reflected
        }
        Say.line("MADE", "int[]", "reflected", count, HEADER_BYTES + 4 * INTS);
    }

    private static void copies(int count) throws CloneNotSupportedException {
        Wide original = new Wide();
        for (int i = 0; i < count; i++) {
            sink = original.copy(); // by copies
        }
        Say.line("MADE", Wide.class.getTypeName(), "copies", count, WIDE_BYTES);
    }
}
