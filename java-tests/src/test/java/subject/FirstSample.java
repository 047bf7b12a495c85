package subject;

/**
 * Has the calling thread sampled for the first time. Until then it waits for as many bytes as the JVM's own distance of samples
 * says; only then it takes over the one that was asked for.
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
