package same;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Attach;
import harness.Collector;
import harness.Engine;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Setup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** An image that is copied while the application writes is the heap as a fork copies it, byte by byte. */
class ImageTest {
    /** How often each kind of JVM is compared. */
    private static final int DUMPS = Integer.getInteger("comparisons", 3);

    @TempDir Path folder;

    /** Each collector that a fork or an image copies, and how its memory comes and goes. */
    static List<Setup> setups() {
        List<Setup> setups = new ArrayList<>();
        for (Setup setup : Setup.matrix()) {
            if (setup.collector != Collector.ZGC) {
                setups.add(Setup.of(setup.jdk, setup.collector, "-Xmx256m"));
            } else if (setup.jdk.major >= 17) {
                setups.add(zgc(setup.jdk));
            }
        }
        Jdk jdk = Jdks.of(21);
        setups.add(zgc(jdk, "-XX:+ZGenerational"));
        setups.add(Setup.of(jdk, Collector.G1, "-Xmx256m", "-XX:+UseTransparentHugePages"));
        setups.add(Setup.of(jdk, Collector.G1, "-Xmx512m", "-XX:G1PeriodicGCInterval=100", "-XX:MaxHeapFreeRatio=10", "-XX:MinHeapFreeRatio=5"));
        if (jdk.collectors().contains(Collector.SHENANDOAH)) {
            setups.add(Setup.of(jdk, Collector.SHENANDOAH, "-Xmx512m", "-XX:+UnlockExperimentalVMOptions", "-XX:ShenandoahUncommitDelay=50",
                    "-XX:ShenandoahGuaranteedGCInterval=100"));
        }
        return setups;
    }

    /** It moves objects every second, and gives back memory. */
    private static Setup zgc(Jdk jdk, String... switches) {
        List<String> all = new ArrayList<>(Arrays.asList(switches));
        all.addAll(List.of("-Xmx512m", "-XX:ZCollectionInterval=1", "-XX:+UnlockExperimentalVMOptions", "-XX:ZUncommitDelay=1"));
        return Setup.of(jdk, Collector.ZGC, all.toArray(new String[0]));
    }

    @ParameterizedTest
    @Rows("setups")
    void everyByteIsThatOfTheFork(Setup setup) throws Exception {
        try (Jvm jvm = setup.on(folder).run(Restless.class).ready()) {
            for (int number = 1; number <= DUMPS; number++) {
                Path file = folder.resolve(number + ".hprof");
                String line = Attach.dump(jvm, number, "copy=both,file=" + file);
                boolean isCompared = line.contains("engine snapshot of an image of ");
                assertTrue(isCompared || setup.collector.isConcurrent() && isMoving(line), () -> line + jvm.err.text());
                new HprofCheck(file).good();
                Files.delete(file);
            }
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    /**
     * Where the collector may move objects in the pause, native code that writes then makes the fork copy the heap, and a later attempt
     * has no image, or one of all that is copied in the pause. Where it moves them for long, HotSpot makes the dump.
     */
    private static boolean isMoving(String line) {
        return line.contains("engine snapshot") || Engine.wasMoving(line);
    }
}
