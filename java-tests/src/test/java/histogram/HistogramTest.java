package histogram;

import static org.junit.jupiter.api.Assertions.assertEquals;

import harness.Histogram;
import harness.Jvm;
import harness.Setup;
import harness.SlurpReader;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import lifecycle.Patient;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** In a quiet JVM the agent, HotSpot's own dump and HotSpot's own histogram count the same objects. */
class HistogramTest {
    @TempDir Path folder;

    @ParameterizedTest
    @MethodSource("harness.Setup#matrix")
    void isHotspotsOwn(Setup setup) {
        try (Jvm jvm = Jvm.on(setup.jdk, folder).with(setup.collector).switches("-Xmx64m")
                .agent("heap=dump,doe=n,verbose=n,file=" + folder.resolve("out.%n.hprof")).run(Patient.class).ready()) {
            // The first look of each kind creates objects and classes of its own; only the second is compared.
            look(jvm, 1);
            jvm.jcmd("GC.class_histogram").good();
            jvm.hotspotDump(folder.resolve("first.hprof"));

            Histogram before = classHistogram(jvm);
            Histogram ours = look(jvm, 2);
            Histogram hotspots = new SlurpReader(jvm.hotspotDump(folder.resolve("hotspot.hprof"))).histogram();
            Histogram after = classHistogram(jvm);

            assertEquals(Map.of(), difference(before, after), "the JVM is quiet: looking creates nothing");
            assertEquals(Map.of(), difference(hotspots, ours), "HotSpot's dump to ours");
            assertEquals(Map.of(), difference(before, ours), "HotSpot's histogram to our dump");
        }
    }

    private Histogram look(Jvm jvm, int number) {
        jvm.signal("QUIT");
        jvm.dumped(number);
        return new SlurpReader(folder.resolve("out." + number + ".hprof")).histogram();
    }

    private static Histogram classHistogram(Jvm jvm) {
        Histogram histogram = new Histogram();
        for (String line : jvm.jcmd("GC.class_histogram").good().out.split("\n")) {
            String[] words = line.trim().split("\\s+");
            if (words.length >= 4 && words[0].matches("\\d+:")) {
                histogram.add(words[3], Long.parseLong(words[1]));
            }
        }
        return histogram;
    }

    /** Class objects are class records in a dump, and only those of the primitive types are instances. */
    private static Map<String, Long> difference(Histogram from, Histogram to) {
        Map<String, Long> difference = new TreeMap<>(from.to(to));
        difference.remove("java.lang.Class");
        return difference;
    }
}
