package big;

import subject.Say;

/** Two arrays of three hundred megabytes each, marked at both ends. */
public class Arrays {
    static final byte[] BYTES = new byte[300 << 20];
    static final long[] LONGS = new long[40_000_000];

    public static void main(String[] args) {
        BYTES[0] = 1;
        BYTES[BYTES.length - 1] = 2;
        LONGS[0] = Long.MIN_VALUE;
        LONGS[LONGS.length - 1] = Long.MAX_VALUE;
        Say.expect(1, Arrays.class);
        new Arrays().stay();
    }

    private void stay() {
        Say.ready();
        Say.line("STAYED", hashCode() == 0 ? 0 : 1);
    }
}
