package roots;

/** A token, with two more after it, that only the place to be tested leads to: two objects more show that it was followed. */
public final class Tok {
    /** How many there are of each place. */
    static final int CHAIN = 3;

    /** The number of the place. */
    final int place;
    private final Tok next;

    private Tok(int place, Tok next) {
        this.place = place;
        this.next = next;
    }

    public static Tok of(int place) {
        return new Tok(place, new Tok(place, new Tok(place, null)));
    }

    /** Something to do with it, for which its frame must still have it. */
    public int use() {
        return place + next.place;
    }

    /** An exception that has a token, without a stack. */
    public static final class Thrown extends RuntimeException {
        final Tok tok;

        public Thrown(Tok tok) {
            super(null, null, false, false);
            this.tok = tok;
        }
    }
}
