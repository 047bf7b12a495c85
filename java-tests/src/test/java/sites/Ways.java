package sites;

import java.util.ArrayList;
import java.util.List;
import subject.FirstSample;
import subject.Say;

/**
 * Allocates small and large objects in many ways, each of a stack of its own, and keeps every fourth of each way. The ways take
 * turns, so that whatever happens meanwhile happens to all of them alike: they differ by chance alone.
 */
public class Ways {
    /** 24 bytes. */
    static class Small {
        long number;
    }

    /** Arrays of these have 8016 bytes. */
    static class Large {}

    /** Each bit of a way's number chooses one of two lines. */
    static final int BITS = 5;
    static final int WAYS = 1 << BITS;
    static final int LARGE_OF_A_WAY = 800;
    static final int SMALL_FOR_ONE_LARGE = 64;
    static final List<Object> KEPT = new ArrayList<>();
    static volatile Object sink;

    public static void main(String[] args) {
        FirstSample.pass();
        int small = LARGE_OF_A_WAY * SMALL_FOR_ONE_LARGE;
        for (int i = 0; i < small; i++) {
            for (int way = 0; way < WAYS; way++) {
                make(BITS, way, false, i % 4 == 0);
                if (i % SMALL_FOR_ONE_LARGE == 0) {
                    make(BITS, way, true, i / SMALL_FOR_ONE_LARGE % 4 == 0);
                }
            }
        }
        sink = null;
        System.gc();
        Say.line("MADE", Small.class.getTypeName(), small);
        Say.line("MADE", Large[].class.getTypeName(), LARGE_OF_A_WAY);
        Say.ready();
    }

    private static void make(int bits, int way, boolean isLarge, boolean isKept) {
        if (bits == 0) {
            sink = isLarge ? new Large[2000] : new Small();
            if (isKept) {
                KEPT.add(sink);
            }
        } else if ((way & 1) == 0) {
            make(bits - 1, way >> 1, isLarge, isKept);
        } else {
            make(bits - 1, way >> 1, isLarge, isKept);
        }
    }
}
