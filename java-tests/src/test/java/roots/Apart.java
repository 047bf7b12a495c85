package roots;

/** Is loaded by a loader of its own, which stops where a class of this file is asked for the first time. */
public final class Apart implements Places.Body {
    /** What the loader stops at. */
    static final class Callee {
        private Callee() {}

        static void take(Tok tok) {
            Stop.passed += tok.use();
        }
    }

    /** The same, for a handler of exceptions. */
    static final class Caught extends RuntimeException {}

    /** Held by this class alone, which only a frame leads to. */
    private static Tok held;

    /** The token is a static field of a class whose loader nothing else leads to. */
    @Override
    public void hold(int place, Stop stop) {
        held = Tok.of(place);
        stop.here();
    }

    /** The token is the argument of a call whose class is being loaded. */
    public static final class Calls implements Places.Body {
        @Override
        public void hold(int place, Stop stop) {
            Callee.take(Tok.of(place));
        }
    }

    /** The token is in an exception, and the class of the handler is being loaded. */
    public static final class Throws implements Places.Body {
        @Override
        public void hold(int place, Stop stop) {
            try {
                fail(place);
            } catch (Caught e) {
                Stop.passed++;
            }
        }

        private static void fail(int place) {
            throw new Tok.Thrown(Tok.of(place));
        }
    }
}
