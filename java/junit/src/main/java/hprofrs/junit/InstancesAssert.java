package hprofrs.junit;

/** An assertion about the retained instances of a class. */
public final class InstancesAssert {
    private final Instances found;

    InstancesAssert(Instances found) {
        this.found = found;
    }

    /**
     * Checks that there are exactly this many.
     *
     * @throws AssertionError if there are more or fewer; the message has the paths to some of them
     */
    public InstancesAssert instances(long expected) {
        return check(found.count() == expected, Long.toString(expected));
    }

    /**
     * There are not more than that.
     *
     * @throws AssertionError if there are more; the message has the paths to some of them
     */
    public InstancesAssert atMost(long most) {
        return check(found.count() <= most, "at most " + most);
    }

    /** There are not more than before a test. */
    InstancesAssert noMoreThanBefore(long before) {
        return check(found.count() <= before, "at most " + before + ", as before the test");
    }

    private InstancesAssert check(boolean holds, String expected) {
        if (!holds) {
            throw new AssertionError(found.described("expected " + expected));
        }
        return this;
    }
}
