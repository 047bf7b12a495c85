package sites;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.SiteList;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** Stacks in a dump: of classes that are gone by then, and of several threads that are one there. */
class DumpedSitesTest {
    @TempDir Path folder;

    static List<Jdk> jdks() {
        return Jdks.since(8).stream().filter(jdk -> jdk.major != 11 && jdk.major != 21).collect(Collectors.toList());
    }

    @ParameterizedTest
    @Rows("jdks")
    void aClassThatIsGoneIsNamedInTheStacksOfItsObjects(Jdk jdk) {
        // There is no class of its name that the frame could belong to.
        dump(jdk, "gone", "java.lang.Object.sites.Successors$MakerQ.run(Successors.java:");
    }

    @ParameterizedTest
    @Rows("jdks")
    void aClassThatCameAgainIsNamedInTheStacksOfTheOldOnesObjects(Jdk jdk) {
        dump(jdk, "reloaded", "sites.Successors$MakerQ.run(Successors.java:");
    }

    private void dump(Jdk jdk, String variant, String frame) {
        Path file = folder.resolve(variant + ".hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).agent("heap=all,sampling=0,cutoff=0,thread=y,file=" + file)
                .run(Unloaded.class, variant).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            // Among its rules: no site is there twice.
            new HprofCheck(file).good();
            for (String from : List.of("sites", "dump")) {
                SiteList sites = new SiteList(file, from);
                assertEquals(Unloaded.ARRAYS, live(sites, "int[]", frame), () -> from + sites.sites);
                // Each of the two threads has made as many.
                assertEquals(2 * Unloaded.ARRAYS, live(sites, "long[]", "sites.Unloaded.longs("), () -> from + sites.sites);
            }
        }
    }

    /** Objects of a class with such a frame on top, all of one site. */
    private static long live(SiteList sites, String className, String frame) {
        List<SiteList.Site> found = sites.sites.stream().filter(site -> site.className.equals(className)
                && !site.frames.isEmpty() && site.frames.get(0).startsWith(frame)).collect(Collectors.toList());
        assertTrue(found.size() <= 1, found::toString);
        return found.stream().mapToLong(site -> site.liveObjects).sum();
    }
}
