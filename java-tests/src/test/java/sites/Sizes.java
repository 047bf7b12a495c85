package sites;

import java.util.ArrayList;
import java.util.List;
import subject.FirstSample;
import subject.Say;

/**
 * Allocates arrays of several sizes, each size so often that samples of all come in numbers, keeps every fourth, and has
 * the others collected. The classes of the elements distinguish the sizes.
 */
public class Sizes {
    static class S0 {}

    static class S1 {}

    static class S2 {}

    static class S3 {}

    static class S4 {}

    /** Elements of the arrays, and how many are allocated of each. */
    static final int[] LENGTHS = {0, 30, 300, 3_000, 100_000};
    static final int[] COUNTS = {400_000, 100_000, 30_000, 3_000, 200};
    /** Named by the class itself: one more array made for its name can be sampled, and a sample of few bytes stands for thousands. */
    static final Class<?>[] ARRAYS = {S0[].class, S1[].class, S2[].class, S3[].class, S4[].class};
    static final List<Object> KEPT = new ArrayList<>();
    static volatile Object sink;

    public static void main(String[] args) {
        FirstSample.pass();
        for (int size = 0; size < LENGTHS.length; size++) {
            for (int i = 0; i < COUNTS[size]; i++) {
                sink = make(size, LENGTHS[size]);
                if (i % 4 == 0) {
                    KEPT.add(sink);
                }
            }
            Say.line("MADE", ARRAYS[size].getTypeName(), COUNTS[size]);
        }
        sink = null;
        System.gc();
        Say.ready();
    }

    private static Object make(int size, int length) {
        switch (size) {
            case 0: return new S0[length];
            case 1: return new S1[length];
            case 2: return new S2[length];
            case 3: return new S3[length];
            default: return new S4[length];
        }
    }
}
