package harness;

/** A reader of dumps, having read one. */
public interface Judge {
    String name();

    Histogram histogram();
}
