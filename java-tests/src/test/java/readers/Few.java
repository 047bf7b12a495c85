package readers;

import subject.Say;

/** A handful of objects, to see whether the readers and the bench itself are right. */
public class Few {
    static final Few[] ARRAY = {null, new Few(), new Few(), null};
    static String text = "f\u00fcr \ud83d\ude00";
    static long[] longs = {Long.MIN_VALUE, 0, Long.MAX_VALUE};
    static char letter = '\ud800';
    static boolean flag = true;
    static double nan = Double.NaN;

    public static void main(String[] args) {
        Say.expect(2, Few.class);
        Say.expect(1, Few[].class);
        Say.statics(Few.class);
        Say.string(text);
        Say.ready();
    }
}
