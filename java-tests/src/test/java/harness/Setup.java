package harness;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A runtime with a collector and perhaps more switches: one column of the test matrix. */
public final class Setup {
    public final Jdk jdk;
    public final Collector collector;
    private final List<String> switches;

    private Setup(Jdk jdk, Collector collector, List<String> switches) {
        this.jdk = jdk;
        this.collector = collector;
        this.switches = switches;
    }

    public static Setup of(Jdk jdk, Collector collector, String... switches) {
        return new Setup(jdk, collector, List.of(switches));
    }

    /** Each major version with each of its collectors. */
    public static List<Setup> matrix() {
        List<Setup> matrix = new ArrayList<>();
        for (Jdk jdk : Jdks.majors()) {
            jdk.collectors().forEach(collector -> matrix.add(of(jdk, collector)));
        }
        return matrix;
    }

    /** A JVM of this kind, to be run in this folder. */
    public Launch on(Path folder) {
        return Jvm.on(jdk, folder).with(collector).switches(switches.toArray(new String[0]));
    }

    @Override
    public String toString() {
        return ("Java " + jdk + " " + collector + " " + String.join(" ", switches)).trim();
    }
}
