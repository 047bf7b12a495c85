package harness;

/** A garbage collector and the switch that chooses it. */
public enum Collector {
    SERIAL("-XX:+UseSerialGC"),
    PARALLEL("-XX:+UseParallelGC"),
    G1("-XX:+UseG1GC"),
    ZGC("-XX:+UseZGC"),
    SHENANDOAH("-XX:+UseShenandoahGC");

    final String option;

    Collector(String option) {
        this.option = option;
    }

    /** Whether it moves objects while the application runs. */
    public boolean isConcurrent() {
        return this == ZGC || this == SHENANDOAH;
    }
}
