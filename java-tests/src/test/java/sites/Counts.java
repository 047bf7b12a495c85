package sites;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import subject.Say;

/**
 * Allocates in every way that bytecode knows, and prints how many objects of which class each method made and how many it
 * kept: {@code MADE class method allocated kept}. Runs on Java 8.
 */
public final class Counts {
    static final List<Object> KEPT = new ArrayList<>(4096);
    static volatile Object sink;

    static class Plain {
        int value;

        Plain(int value) {
            this.value = value;
        }
    }

    static class Middle extends Plain {
        Middle() {
            this(7);
        }

        Middle(int value) {
            super(value);
        }
    }

    static final class Leaf extends Middle {}

    /** Each makes the next in its constructor, before and after that of the class above has run. */
    static class Nested {
        final Nested inner;

        Nested(int depth) {
            this.inner = depth == 0 ? null : new Nested(depth - 1);
        }
    }

    static class Given extends Plain {
        Given(int depth) {
            super(depth == 0 ? 0 : new Given(depth - 1).value);
        }
    }

    interface Making {
        default Object make() {
            return new Default();
        }
    }

    static class Default {}

    static class Maker implements Making {}

    static class Thrown extends RuntimeException {}

    static class InThread {}

    static class Unstarted {
        Unstarted() {
            throw new IllegalStateException("on purpose");
        }
    }

    private Counts() {}

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        for (int i = 0; i < rounds; i++) {
            leaves(i);
            plain(i);
            arrays(i);
            objects(i);
            grids(i);
            jagged();
            empty();
            nested();
            given();
            defaults(i);
            thrown();
            unstarted();
        }
        Thread[] threads = new Thread[4];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> inThreads(rounds));
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.gc();
        int kept = (rounds + 9) / 10;
        Say.line("MADE", Leaf.class.getTypeName(), "leaves", rounds, kept);
        Say.line("MADE", Plain.class.getTypeName(), "plain", 3 * rounds, 3 * kept);
        Say.line("MADE", "long[]", "arrays", rounds, kept);
        Say.line("MADE", "java.lang.Integer[]", "objects", rounds, kept);
        Say.line("MADE", "byte[][]", "grids", rounds, kept);
        Say.line("MADE", "byte[]", "grids", 3 * rounds, 3 * kept);
        Say.line("MADE", "short[][][]", "jagged", rounds, 0);
        Say.line("MADE", "short[][]", "jagged", 2 * rounds, 0);
        Say.line("MADE", "short[]", "jagged", 0, 0);
        Say.line("MADE", "float[][]", "empty", rounds, 0);
        Say.line("MADE", "float[]", "empty", 0, 0);
        Say.line("MADE", Nested.class.getTypeName(), "nested", rounds, 0);
        Say.line("MADE", Nested.class.getTypeName(), "<init>", 3 * rounds, 0);
        Say.line("MADE", Given.class.getTypeName(), "given", rounds, 0);
        Say.line("MADE", Given.class.getTypeName(), "<init>", 2 * rounds, 0);
        Say.line("MADE", Default.class.getTypeName(), "make", rounds, kept);
        Say.line("MADE", Thrown.class.getTypeName(), "thrown", rounds, 0);
        Say.line("MADE", Unstarted.class.getTypeName(), "unstarted", rounds, 0);
        Say.line("MADE", InThread.class.getTypeName(), "inThreads", 4 * rounds, 4 * kept);
        Say.ready();
    }

    private static void keep(int i, Object object) {
        if (i % 10 == 0) {
            synchronized (KEPT) {
                KEPT.add(object);
            }
        } else {
            sink = object;
        }
        sink = null;
    }

    private static void leaves(int i) {
        keep(i, new Leaf());
    }

    private static void plain(int i) {
        for (int j = 0; j < 3; j++) {
            keep(i, new Plain(j));
        }
        // What the compiler could do without is made, too.
    }

    private static void arrays(int i) {
        keep(i, new long[i % 100]);
    }

    private static void objects(int i) {
        keep(i, new Integer[] {1, 2, 3});
    }

    private static void grids(int i) {
        keep(i, new byte[3][5]);
    }

    /** The innermost arrays are not made. */
    private static void jagged() {
        sink = new short[2][4][];
        sink = null;
    }

    private static void empty() {
        sink = new float[0][5];
        sink = null;
    }

    private static void nested() {
        sink = new Nested(3);
        sink = null;
    }

    private static void given() {
        sink = new Given(2);
        sink = null;
    }

    private static void defaults(int i) {
        keep(i, new Maker().make());
    }

    private static void thrown() {
        try {
            throw new Thrown();
        } catch (Thrown e) {
            if (Arrays.asList(1).isEmpty()) {
                throw e;
            }
        }
    }

    private static void unstarted() {
        try {
            sink = new Unstarted();
        } catch (IllegalStateException e) {
            sink = null;
        }
    }

    private static void inThreads(int rounds) {
        for (int i = 0; i < rounds; i++) {
            keep(i, new InThread());
        }
    }
}
