package values;

import subject.Say;

/** Fields with the utmost values of every type: own, inherited and static, in fields and in arrays; and odd strings. */
public class Extremes {
    static class Least {
        boolean flag = false;
        byte small = Byte.MIN_VALUE;
        char letter = Character.MIN_VALUE;
        short little = Short.MIN_VALUE;
        int number = Integer.MIN_VALUE;
        long big = Long.MIN_VALUE;
        float ratio = Float.MIN_VALUE;
        double exact = Double.MIN_VALUE;
        Object nothing = null;
        String empty = "";
    }

    static class Greatest extends Least {
        boolean flag = true;
        byte small = Byte.MAX_VALUE;
        char letter = Character.MAX_VALUE;
        short little = Short.MAX_VALUE;
        int number = Integer.MAX_VALUE;
        long big = Long.MAX_VALUE;
        float ratio = Float.MAX_VALUE;
        double exact = Double.MAX_VALUE;
    }

    static class Odd extends Greatest {
        float ratio = Float.NaN;
        double exact = Double.NaN;
        float below = Float.NEGATIVE_INFINITY;
        double above = Double.POSITIVE_INFINITY;
        float minusZeroF = -0.0f;
        double minusZero = -0.0;
        int minusOne = -1;
        long minusOneL = -1;
    }

    static class Statics {
        static boolean flag = true;
        static byte least = Byte.MIN_VALUE;
        static byte small = Byte.MAX_VALUE;
        static char letter = Character.MAX_VALUE;
        static short little = Short.MIN_VALUE;
        static int number = Integer.MIN_VALUE;
        static long big = Long.MIN_VALUE;
        static float nanF = Float.NaN;
        static double nan = Double.NaN;
        static float minusZeroF = -0.0f;
        static double minusZero = -0.0;
        static double infinity = Double.NEGATIVE_INFINITY;
        static Object nothing;
    }

    static class Arrays {
        boolean[] flags = {true, false, true};
        byte[] bytes = {Byte.MIN_VALUE, -1, 0, 1, Byte.MAX_VALUE};
        char[] letters = {0, 'a', 0x7f, 0xff, 0x100, 0x4e2d, 0xffff};
        short[] shorts = {Short.MIN_VALUE, -1, 0, Short.MAX_VALUE};
        int[] ints = {Integer.MIN_VALUE, -1, 0, Integer.MAX_VALUE};
        long[] longs = {Long.MIN_VALUE, -1, 0, Long.MAX_VALUE};
        float[] floats = {Float.NEGATIVE_INFINITY, -0.0f, Float.MIN_VALUE, Float.MAX_VALUE, Float.NaN};
        double[] doubles = {Double.NEGATIVE_INFINITY, -0.0, Double.MIN_VALUE, Double.MAX_VALUE, Double.NaN};
        Object[] nullFirst = {null, "x"};
        Object[] nullMiddle = {"x", null, "y"};
        Object[] nullLast = {"x", null};
        Object[] nulls = {null, null};
        Object[] none = {};
        int[][] rows = {{1}, null, {}, {2, 3}};
        Object[][][] deep = {{{}, null}, null, {{"bottom"}}};
        long[] noLongs = {};
    }

    static class Texts {
        String latin = "caf\u00e9 \u00ff";
        String wide = "\u4e2d\u6587";
        String emoji = "\ud83d\ude00 and \ud834\udd1e";
        String nul = "a\u0000b";
        String lone = "lone \ud83d surrogate";
        String reversed = "\ude00\ud83d";
        String quotes = "\"\\ \t\r\n";
        String empty = "";
        String boundary = "\u007f\u0080\u07ff\u0800\uffff";
    }

    static final Object[] KEPT = {new Least(), new Greatest(), new Odd(), new Arrays(), new Texts()};

    public static void main(String[] args) {
        for (Object object : KEPT) {
            Say.expect(1, object.getClass());
            Say.fields(object);
        }
        Say.statics(Statics.class);
        Texts texts = (Texts) KEPT[4];
        Say.string(texts.latin);
        Say.string(texts.emoji);
        Say.string(texts.nul);
        Say.string(texts.lone);
        Say.string(texts.reversed);
        Say.string(texts.boundary);
        Say.ready();
    }
}
