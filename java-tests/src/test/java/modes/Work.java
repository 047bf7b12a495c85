package modes;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;

/** What {@link Together} loads again and again: its constructor, calls, allocations, a monitor and an exception of its own. */
public class Work implements LongUnaryOperator {
    private static final long START = System.getProperty("none", "seven").length();
    private static final int ROUNDS = 100;

    private final long[] kept;

    public Work() {
        this(new long[ROUNDS]);
    }

    private Work(long[] kept) {
        this.kept = kept;
    }

    @Override
    public long applyAsLong(long seed) {
        List<Object> objects = new ArrayList<>();
        for (int i = 0; i < ROUNDS; i++) {
            synchronized (Work.class) {
                kept[i] = START + seed * i;
            }
            objects.add(new Work(kept));
            objects.add(new long[i]);
            try {
                odd(i);
            } catch (IllegalArgumentException thrown) {
                objects.add(thrown);
            }
        }
        long sum = objects.size();
        for (long one : kept) {
            sum = sum * 31 + one;
        }
        return sum;
    }

    private static void odd(int i) {
        if (i % 2 == 1) {
            throw new IllegalArgumentException();
        }
    }
}
