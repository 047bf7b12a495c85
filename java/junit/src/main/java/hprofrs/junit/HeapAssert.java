package hprofrs.junit;

/** An assertion about the heap. */
public final class HeapAssert {
    private final Heap heap;

    HeapAssert(Heap heap) {
        this.heap = heap;
    }

    /**
     * Counts the instances of exactly this class, not of its subclasses, that a root reaches without weak, soft or
     * phantom references. Local variables of running methods are roots, too, and so are the fields of the test.
     *
     * @throws IllegalArgumentException if no object is of exactly this class, as of an interface
     */
    public InstancesAssert retains(Class<?> type) {
        return new InstancesAssert(heap.instances(type));
    }
}
