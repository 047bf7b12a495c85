package same;

import java.util.ArrayList;
import java.util.List;

/** Fields of every type with extreme values: own, inherited, shadowed, static and of interfaces. Runs on Java 8. */
class ManyFields {
    /** NaNs with a payload, which HotSpot's dump drops. */
    static final float ODD_NAN_F = Float.intBitsToFloat(0x7fc12345);
    static final double ODD_NAN = Double.longBitsToDouble(0xfff8_0123_4567_89abL);

    interface Constants {
        int NUMBER = Integer.parseInt("17");
        String TEXT = "constant " + NUMBER;
        Object OBJECT = new Object();
        long[] LONGS = {NUMBER, -NUMBER};
    }

    interface MoreConstants extends Constants {
        Object OBJECT = new int[] {Constants.NUMBER};
        double RATIO = Double.parseDouble("0.1");
    }

    static class Root {
        boolean flag = true;
        byte small = Byte.MIN_VALUE;
        Object value = "of the root";
        private int hidden = Integer.MIN_VALUE;
    }

    static class Middle extends Root implements MoreConstants {
        Object value = this;
        char letter = Character.MAX_VALUE;
        short little = Short.MIN_VALUE;
        private long hidden = Long.MIN_VALUE;
        float ratio = ODD_NAN_F;
    }

    static class Leaf extends Middle {
        double value = ODD_NAN;
        float ratio = Float.NaN;
        private Object hidden = new Root();
        int small = -1;
        long big = Long.MAX_VALUE;
        byte last = Byte.MAX_VALUE;
        Object nothing;
    }

    /** Another order of sizes, so that the JVM fills other gaps. */
    static class Gaps extends Leaf {
        byte a = 1;
        long b = 2;
        byte c = 3;
        Object d = "4";
        short e = 5;
        double f = 6;
        boolean g = true;
        int h = 8;
        Object i = Constants.OBJECT;
        char j = 10;
    }

    static class NoFields {}

    static class NoneOfItsOwn extends Gaps {}

    static class Statics {
        static boolean flag = true;
        static byte small = Byte.MIN_VALUE;
        static char letter = Character.MAX_VALUE;
        static short little = Short.MIN_VALUE;
        static int number = Integer.MIN_VALUE;
        static long big = Long.MIN_VALUE;
        static float ratio = Float.MIN_VALUE;
        static double exact = Double.MIN_VALUE;
        static float oddNanF = ODD_NAN_F;
        static double oddNan = ODD_NAN;
        static float minusZeroF = -0.0f;
        static double minusZero = -0.0;
        static double infinity = Double.NEGATIVE_INFINITY;
        static Object nothing;
        static Object object = new Leaf();
        static Class<?> type = int[][].class;
        static Class<?> primitive = double.class;
        static final int CONSTANT = 4711;
        static final String CONSTANT_TEXT = "a constant of a class";
    }

    static class MoreStatics extends Statics {
        static byte flag = -1;
        static long small = -1;
        static Object object = MoreConstants.OBJECT;
    }

    enum Level {
        LOW, MIDDLE(5), HIGH(9) {
            Object more = new NoFields();
        };

        final int height;

        Level() {
            this(-1);
        }

        Level(int height) {
            this.height = height;
        }
    }

    private ManyFields() {}

    static List<Object> all() {
        List<Object> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            all.add(new Root());
            all.add(new Middle());
            all.add(new Leaf());
            all.add(new Gaps());
            all.add(new NoFields());
            all.add(new NoneOfItsOwn());
        }
        all.add(Statics.type);
        all.add(MoreStatics.small);
        all.add(Level.values());
        all.add(Constants.TEXT);
        all.add(MoreConstants.RATIO);
        return all;
    }
}
