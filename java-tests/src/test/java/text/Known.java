package text;

import java.util.ArrayList;
import java.util.List;
import subject.Say;

/** Objects of every kind that has a line of its own in text, in known numbers. Runs on Java 8. */
public class Known {
    static class Node {
        int number;
        Node next;
        /** Longer than a tab is wide, so that its line has one tab less. */
        Object somethingElse;
    }

    static class Leaf extends Node {
        String label;
        long weight;
    }

    static class Empty {}

    static final int NODES = 1000;
    static final int LEAVES = 300;
    static final Node FIRST = new Node();
    static final Object NOTHING = null;
    static final long NUMBER = 7;
    static final List<Object> KEPT = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        Node last = FIRST;
        for (int i = 1; i < NODES; i++) {
            last.next = new Node();
            last = last.next;
            last.number = i;
        }
        for (int i = 0; i < LEAVES; i++) {
            Leaf leaf = new Leaf();
            leaf.label = "leaf " + i;
            leaf.next = FIRST;
            leaf.somethingElse = i % 2 == 0 ? leaf : null;
            KEPT.add(leaf);
        }
        // Nulls at every place, none at all, nothing but nulls.
        KEPT.add(new Node[] {null, FIRST, null, FIRST, null, null});
        KEPT.add(new Node[0]);
        KEPT.add(new Node[3]);
        KEPT.add(new Node[][] {{FIRST}, null});
        KEPT.add(new Empty());
        for (Object array : new Object[] {new boolean[5], new char[5], new float[5], new double[5], new byte[5],
                new short[5], new int[5], new long[5]}) {
            KEPT.add(array);
        }
        Say.expect(NODES, Node.class);
        Say.expect(LEAVES, Leaf.class);
        Say.expect(1, Empty.class);
        Say.expect(4, Node[].class);
        Say.expect(1, Node[][].class);
        synchronized (FIRST) {
            Say.ready();
        }
    }
}
