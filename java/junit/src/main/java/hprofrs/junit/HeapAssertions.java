package hprofrs.junit;

/**
 * Assertions about the heap of the running JVM.
 *
 * <pre>{@code
 * import static hprofrs.junit.HeapAssertions.assertThat;
 * import static hprofrs.junit.HeapAssertions.heap;
 *
 * assertThat(heap()).retains(Session.class).instances(0);
 * }</pre>
 */
public final class HeapAssertions {
    private HeapAssertions() {}

    /** The heap as it is when an assertion asks. */
    public static Heap heap() {
        return Heap.NOW;
    }

    /** Begins an assertion. */
    public static HeapAssert assertThat(Heap heap) {
        return new HeapAssert(heap);
    }
}
