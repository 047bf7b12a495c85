package roots;

/** What native code holds: see native.c. */
final class InNative {
    private InNative() {}

    static void addTo(Places places, String library) {
        System.load(library);
        places.add("local reference", InNative::local, Stop::park);
        places.addVirtual("virtual local reference", InNative::local, Stop::park);
        places.add("local reference of an outer frame", InNative::pushed, Stop::park);
        places.add("global reference", InNative::global, null);
        places.add("attached thread that calls Java", InNative::attached, Stop::park);
        places.add("attached thread without Java", InNative::alone, null);
        places.add("pending exception", InNative::pending, null);
        places.add("argument of a native method", (place, stop) -> argument(Tok.of(place), stop), null);
        places.addVirtual("virtual argument of a native method", (place, stop) -> argument(Tok.of(place), stop), null);
        places.add("receiver of a native method", (place, stop) -> new Receiver(Tok.of(place)).stop(stop), null);
        places.add("monitor entered by native code", InNative::entered, null);
    }

    /** A local reference, while native code calls Java. */
    private static native void local(int place, Stop stop);

    /** The same, in the outer of two frames of references. */
    private static native void pushed(int place, Stop stop);

    private static native void global(int place, Stop stop);

    /** A local reference of a thread that native code has started, while it calls Java. */
    private static native void attached(int place, Stop stop);

    /** The same, while no Java is called. */
    private static native void alone(int place, Stop stop);

    /** An exception that native code has thrown and not returned from. */
    private static native void pending(int place, Stop stop);

    private static native void argument(Tok tok, Stop stop);

    private static native void entered(int place, Stop stop);

    private static final class Receiver {
        private final Tok tok;

        Receiver(Tok tok) {
            this.tok = tok;
        }

        private native void stop(Stop stop);
    }

    /** For native code: a token, and an exception with one. */
    static Tok token(int place) {
        return Tok.of(place);
    }

    static Throwable thrown(int place) {
        return new Tok.Thrown(Tok.of(place));
    }
}
