package million;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import subject.Say;

/** A million objects of some thirty shapes, all held by static fields; it knows how many of each there are. */
public class MillionObjects {
    static final int EACH = 50_000;
    static final int LIST = 200_000;

    static class Primitives {
        boolean flag;
        byte small;
        char letter;
        short little;
        int number;
        long big;
        float ratio;
        double exact;

        Primitives(int i) {
            flag = i % 2 == 0;
            small = (byte) i;
            letter = (char) i;
            little = (short) i;
            number = i;
            big = (long) i << 32;
            ratio = i / 3f;
            exact = i / 7d;
        }
    }

    static class Base {
        int x = 1;
        Object other;
    }

    static class Middle extends Base {
        long x = 2;
        byte odd = 3;
    }

    static class Leaf extends Middle {
        short x = 4;
        Leaf self = this;
    }

    interface Marked {
        int LIMIT = 77;
        String LABEL = "a constant of an interface";
        Object[] SHARED = {null, "shared"};
    }

    static class Marker implements Marked {}

    static class Empty {}

    static class Alone extends Leaf {
        String x = "the fourth x";
    }

    enum Colour {
        RED, GREEN { }, BLUE
    }

    class Inner {
        int n;
    }

    static class Node {
        Node next;
        int index;
    }

    static class Mixed {
        byte a;
        Object first;
        boolean b;
        long c;
        Object second;
        char d;
    }

    static class Text {
        final String text;

        Text(String text) {
            this.text = text;
        }
    }

    static class Key {
        final int n;

        Key(int n) {
            this.n = n;
        }

        @Override
        public int hashCode() {
            return n;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Key && ((Key) other).n == n;
        }
    }

    static class Statics {
        static boolean flag = true;
        static byte small = -1;
        static char letter = 'z';
        static short little = -2;
        static int number = -3;
        static long big = -4L;
        static float ratio = -5.5f;
        static double exact = -6.25;
        static String text = "static text";
        static Object nothing;
        static int[] numbers = {1, 2, 3};
        static Object[] mixed = {null, "middle", new Empty[0], null};
        static Class<?> type = Statics.class;
        static final int CONSTANT = 4711;
    }

    static final List<Object> KEPT = new ArrayList<>();
    static final Map<Key, Object> MAP = new HashMap<>();
    static final Alone ALONE = new Alone();
    static Node chain;

    public static void main(String[] args) {
        MillionObjects outer = new MillionObjects();
        Empty one = new Empty();
        Class<?> lambda = null;
        Class<?> anonymous = null;
        for (int i = 0; i < EACH; i++) {
            final int n = i;
            KEPT.add(new Primitives(i));
            KEPT.add(new Base());
            KEPT.add(new Middle());
            KEPT.add(new Leaf());
            KEPT.add(new Marker());
            Inner inner = outer.new Inner();
            KEPT.add(inner);
            IntSupplier supplier = () -> n;
            lambda = supplier.getClass();
            KEPT.add(supplier);
            Object nameless = new Object() {
                final int kept = n;
            };
            anonymous = nameless.getClass();
            KEPT.add(nameless);
            KEPT.add(new Base[] {null, null, null});
            KEPT.add(new Marker[][] {{null}, null});
            KEPT.add(new Mixed());
            KEPT.add(new Text("latin " + i));
            KEPT.add(new Text("\u4e2d\u6587 " + i));
            KEPT.add(1_000_000 + i);
            KEPT.add((long) i << 33);
            KEPT.add(i / 3d);
            MAP.put(new Key(i), one);
        }
        for (int i = 0; i < LIST; i++) {
            Node node = new Node();
            node.next = chain;
            node.index = i;
            chain = node;
        }
        for (int i = 0; i < 1000; i++) {
            KEPT.add(new boolean[] {true, false});
            KEPT.add(new byte[] {Byte.MIN_VALUE, Byte.MAX_VALUE});
            KEPT.add(new char[i % 10]);
            KEPT.add(new short[i % 10]);
            KEPT.add(new int[i % 10]);
            KEPT.add(new long[i % 10]);
            KEPT.add(new float[i % 10]);
            KEPT.add(new double[i % 10]);
            KEPT.add(new Middle[] {null, ALONE, ALONE, null, ALONE, null});
            KEPT.add(new Empty[0]);
            KEPT.add(new int[3][4][2]);
        }

        Say.expect(EACH, Primitives.class);
        Say.expect(EACH, Base.class);
        Say.expect(EACH, Middle.class);
        Say.expect(EACH, Leaf.class);
        Say.expect(EACH, Marker.class);
        Say.expect(EACH, Inner.class);
        Say.expect(EACH, lambda);
        Say.expect(EACH, anonymous);
        Say.expect(EACH, Base[].class);
        Say.expect(EACH, Marker[][].class);
        Say.expect(EACH, Marker[].class);
        Say.expect(EACH, Mixed.class);
        Say.expect(2 * EACH, Text.class);
        Say.expect(EACH, Key.class);
        Say.expect(LIST, Node.class);
        Say.expect(1000, Middle[].class);
        Say.expect(1001, Empty[].class);
        Say.expect(1000, int[][][].class);
        Say.atLeast(3000, int[][].class);
        Say.expect(1, Empty.class);
        Say.expect(1, Alone.class);
        Say.expect(1, MillionObjects.class);
        Say.expect(2, Colour.class);
        Say.expect(1, Colour.GREEN.getClass());
        Say.expect(1, Colour[].class);
        Say.atLeast(EACH, Integer.class);
        Say.atLeast(EACH, Long.class);
        Say.atLeast(EACH, Double.class);
        Say.atLeast(2 * EACH, String.class);
        Say.atLeast(1000, boolean[].class);
        Say.atLeast(1000, byte[].class);
        Say.atLeast(1000, char[].class);
        Say.atLeast(1000, short[].class);
        Say.atLeast(13_000, int[].class);
        Say.atLeast(1000, long[].class);
        Say.atLeast(1000, float[].class);
        Say.atLeast(1000, double[].class);
        Say.fields(ALONE);
        Say.statics(Statics.class);
        Say.statics(Marked.class);
        Say.ready();
        Say.line("BYE");
    }
}
