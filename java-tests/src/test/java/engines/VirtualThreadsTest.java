package engines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Engine;
import harness.Folder;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.NetBeansReader;
import harness.Rows;
import harness.Testimony;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.netbeans.lib.profiler.heap.Instance;
import org.netbeans.lib.profiler.heap.JavaFrameGCRoot;

/** What only the stack of a virtual thread holds is in the dump of each engine, parked or not, and held by that thread. */
class VirtualThreadsTest {
    private static final int MARKERS = Markers.PARKED + Markers.PINNED + Markers.BUSY;
    private static final String MARKER = Markers.Marker.class.getName();

    @TempDir Path folder;

    /** HotSpot's own dumper writes the stacks of virtual threads since 22. */
    static Stream<Arguments> engines() {
        return Stream.of(Arguments.of(Jdks.of(21), "stop=auto", "engine snapshot"),
                Arguments.of(Jdks.of(25), "stop=auto", "engine snapshot"),
                Arguments.of(Jdks.of(25), "stop=always", "engine hotspot" + Engine.HOTSPOTS));
    }

    @ParameterizedTest
    @Rows("engines")
    void locals(Jdk jdk, String engine, String told) {
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-Djdk.virtualThreadScheduler.parallelism=" + Markers.CARRIERS)
                .agent("heap=dump,doe=n," + engine + ",file=" + folder.resolve("out.hprof")).run(Markers.class).ready()) {
            jvm.signal("QUIT");
            Path dump = new Folder(folder).await("out.hprof", Jvm.LIMIT);
            String end = jvm.dumped(1);
            assertTrue(Engine.isSnapshot(end) ? told.equals("engine snapshot") : end.endsWith(told), end);
            assertEquals(0, jvm.end(), jvm.err::text);
            jvm.out.await("SUM " + IntStream.range(0, MARKERS).sum(), Jvm.LIMIT);
            mustBeHeld(dump);
            Testimony.of(jvm).mustHoldIn(dump);
        }
    }

    /** Each number's marker is there once, and the root that holds it is a frame of its own thread. */
    private static void mustBeHeld(Path dump) {
        try (NetBeansReader netBeans = new NetBeansReader(dump)) {
            Set<Long> held = new HashSet<>();
            for (Object root : netBeans.heap().getGCRoots()) {
                if (root instanceof JavaFrameGCRoot && isOfItsOwner((JavaFrameGCRoot) root)) {
                    held.add(((JavaFrameGCRoot) root).getInstance().getInstanceId());
                }
            }
            Map<Integer, String> wrong = new TreeMap<>();
            IntStream.range(0, MARKERS).forEach(number -> wrong.put(number, "not in the dump"));
            for (Object each : netBeans.heap().getJavaClassByName(MARKER).getInstances()) {
                Instance marker = (Instance) each;
                wrong.compute((Integer) marker.getValueOfField("number"), (number, word) -> word == null ? "twice in the dump"
                        : held.contains(marker.getInstanceId()) ? null : "held by no frame of its thread");
            }
            assertEquals(Map.of(), wrong);
        }
    }

    private static boolean isOfItsOwner(JavaFrameGCRoot root) {
        if (!root.getInstance().getJavaClass().getName().equals(MARKER)) {
            return false;
        }
        Instance owner = (Instance) root.getInstance().getValueOfField("owner");
        return owner.getInstanceId() == root.getThreadGCRoot().getInstance().getInstanceId();
    }
}
