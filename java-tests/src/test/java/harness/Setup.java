package harness;

import java.util.ArrayList;
import java.util.List;

/** A runtime with a collector: one column of the test matrix. */
public final class Setup {
    public final Jdk jdk;
    public final Collector collector;

    private Setup(Jdk jdk, Collector collector) {
        this.jdk = jdk;
        this.collector = collector;
    }

    public static Setup of(Jdk jdk, Collector collector) {
        return new Setup(jdk, collector);
    }

    /** Each major version with each of its collectors. */
    public static List<Setup> matrix() {
        List<Setup> matrix = new ArrayList<>();
        for (Jdk jdk : Jdks.majors()) {
            jdk.collectors().forEach(collector -> matrix.add(of(jdk, collector)));
        }
        return matrix;
    }

    @Override
    public String toString() {
        return "Java " + jdk.major + " " + collector;
    }
}
