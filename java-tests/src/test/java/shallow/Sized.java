package shallow;

import subject.Say;

/** Objects of all shapes whose sizes depend on the layout: gaps below superclasses, arrays that begin at different places. */
public class Sized {
    static final int COUNT = 1234;
    static final Object[] KEPT = new Object[4 * COUNT];

    static class Upper {
        long wide = 1;
        byte narrow = 2;
    }

    static class Lower extends Upper {
        Object reference = KEPT;
        byte narrow = 3;
        int middle = 4;
    }

    /** Eight static fields of eight bytes more than {@link Without}. */
    static class Statics {
        static long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
    }

    static class Without {}

    public static void main(String[] args) {
        for (int i = 0; i < COUNT; i++) {
            KEPT[4 * i] = new Lower();
            KEPT[4 * i + 1] = new boolean[i % 9];
            KEPT[4 * i + 2] = new double[i % 3];
            KEPT[4 * i + 3] = new Lower[i % 5];
        }
        Say.expect(COUNT, Lower.class);
        Say.line("MADE", new Statics(), new Without());
        Say.ready();
    }
}
