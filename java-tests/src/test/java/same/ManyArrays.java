package same;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Arrays of every type: empty, odd lengths, several dimensions, some of megabytes. Runs on Java 8. */
class ManyArrays {
    private static final int LARGE = 300_000;

    private ManyArrays() {}

    static List<Object> all() {
        List<Object> all = new ArrayList<>();
        for (int length = 0; length < 20; length++) {
            all.addAll(ofLength(length));
        }
        large(all);
        all.add(new float[] {Float.NaN, ManyFields.ODD_NAN_F, -0.0f, Float.NEGATIVE_INFINITY});
        all.add(new double[] {ManyFields.ODD_NAN, Double.NaN, -0.0, Double.NEGATIVE_INFINITY});
        all.add(new int[][] {{1}, null, {}, {2, 3}});
        all.add(new int[3][4][5]);
        all.add(new Object[][][] {{{}, null}, null, {{"bottom"}}});
        all.add(new Object[] {new int[1], new String[1][1], null, int.class, int[].class, Object[].class});
        all.add(new Runnable[] {null});
        all.add(new ManyFields.Level[][] {ManyFields.Level.values()});
        all.add(new Class<?>[] {ManyFields.Leaf.class, void.class, Level[][][].class});
        return all;
    }

    /** Only its arrays are known to the JVM, not made. */
    enum Level {}

    private static List<Object> ofLength(int length) {
        Random random = new Random(length);
        List<Object> all = new ArrayList<>();
        boolean[] flags = new boolean[length];
        byte[] bytes = new byte[length];
        char[] chars = new char[length];
        short[] shorts = new short[length];
        int[] ints = new int[length];
        long[] longs = new long[length];
        float[] floats = new float[length];
        double[] doubles = new double[length];
        Object[] objects = new Object[length];
        random.nextBytes(bytes);
        for (int i = 0; i < length; i++) {
            flags[i] = random.nextBoolean();
            chars[i] = (char) random.nextInt();
            shorts[i] = (short) random.nextInt();
            ints[i] = random.nextInt();
            longs[i] = random.nextLong();
            floats[i] = Float.intBitsToFloat(random.nextInt());
            doubles[i] = Double.longBitsToDouble(random.nextLong());
            objects[i] = i % 3 == 0 ? null : longs[i];
        }
        for (Object array : new Object[] {flags, bytes, chars, shorts, ints, longs, floats, doubles, objects}) {
            all.add(array);
        }
        return all;
    }

    private static void large(List<Object> all) {
        Random random = new Random(42);
        byte[] bytes = new byte[5 * LARGE];
        int[] ints = new int[LARGE + 1];
        long[] longs = new long[3 * LARGE];
        Object[] objects = new Object[LARGE];
        random.nextBytes(bytes);
        for (int i = 0; i < LARGE; i++) {
            ints[i] = random.nextInt();
            longs[2 * i] = random.nextLong();
            objects[i] = i % 5 == 0 ? all.get(i % all.size()) : null;
        }
        for (Object array : new Object[] {bytes, ints, longs, objects, new char[LARGE * 2], new double[LARGE]}) {
            all.add(array);
        }
    }
}
