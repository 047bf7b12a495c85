package big;

import subject.Say;

/** A linked list of three million nodes: a reader that follows it by recursion overflows its stack. */
public class Chain {
    static final int LENGTH = 3_000_000;

    static class Link {
        final Link next;

        Link(Link next) {
            this.next = next;
        }
    }

    static Link first;

    public static void main(String[] args) {
        for (int i = 0; i < LENGTH; i++) {
            first = new Link(first);
        }
        Say.expect(LENGTH, Link.class);
        Say.ready();
    }
}
