package big;

import subject.Say;

/** Two million objects: a list whose links have a number, a text and its characters each. */
public class Million {
    private static final int LINKS = 500_000;

    static class Link {
        final Link next;
        final Long number;
        final String text;

        Link(Link next, long number) {
            this.next = next;
            this.number = number << 33;
            text = "text " + number;
        }
    }

    static Link first;

    public static void main(String[] args) {
        for (int i = 0; i < LINKS; i++) {
            first = new Link(first, i);
        }
        Say.ready();
        Say.line("BYE");
    }
}
