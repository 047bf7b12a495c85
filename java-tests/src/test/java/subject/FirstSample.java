package subject;

/**
 * Has the calling thread sampled for the first time. Until then its interval is the JVM's own, and only then the one that was
 * asked for.
 */
public final class FirstSample {
    private static volatile Object sink;

    private FirstSample() {}

    public static void pass() {
        // 16 MB: a chance of e^-32 that they are too few.
        for (int i = 0; i < 400; i++) {
            sink = new long[5_000];
        }
        sink = null;
    }
}
