package values;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Collector;
import harness.EachJdk;
import harness.Engine;
import harness.Escapes;
import harness.Histogram;
import harness.Javac;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.NetBeansReader;
import harness.Rows;
import harness.Setup;
import harness.SharkReader;
import harness.SlurpReader;
import harness.Testimony;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** Every value of every field, and every name, is in the dump as the program has it. */
class ValuesTest {
    @TempDir Path folder;

    @EachJdk("a wrong value is worse than none")
    @ParameterizedTest
    @Rows("harness.Setup#matrix")
    void extremesAreKept(Setup setup) {
        Path dump = folder.resolve("extremes.hprof");
        try (Jvm jvm = Jvm.on(setup.jdk, folder).with(setup.collector).switches("-Xmx64m").dumpTo(dump)
                .run(Extremes.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            Testimony.of(jvm).mustHoldIn(dump);
        }
    }

    /** Without compressed references the layout is another. */
    @ParameterizedTest
    @Rows("harness.Jdks#majors")
    void extremesAreKeptWithWideReferences(Jdk jdk) {
        Path dump = folder.resolve("wide.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).with(Collector.SERIAL).switches("-Xmx64m", "-XX:-UseCompressedOops").dumpTo(dump)
                .run(Extremes.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(Engine.isSnapshot(jvm.dumped(1)), jvm.err::text);
            Testimony.of(jvm).mustHoldIn(dump);
        }
    }

    /** Not even these are options of the whole matrix: the layouts of JDK 24 and later, and wide class words. */
    static Stream<List<String>> layouts() {
        return Stream.of(List.of("-XX:-UseCompressedClassPointers"), List.of("-XX:+UseCompactObjectHeaders"),
                List.of("-XX:ObjectAlignmentInBytes=16"), List.of("-XX:ObjectAlignmentInBytes=32", "-Xmx64m"));
    }

    @ParameterizedTest
    @Rows("layouts")
    void extremesAreKeptInOtherLayouts(List<String> switches) {
        Path dump = folder.resolve("layout.hprof");
        try (Jvm jvm = Jvm.on(Jdks.of(25), folder).switches("-Xmx64m").switches(switches.toArray(new String[0])).dumpTo(dump)
                .run(Extremes.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(Engine.isSnapshot(jvm.dumped(1)), jvm.err::text);
            Testimony.of(jvm).mustHoldIn(dump);
        }
    }

    @ParameterizedTest
    @Rows("harness.Jdks#majors")
    void strangeNamesAreKept(Jdk jdk) {
        Path dump = folder.resolve("names.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-Xmx64m").dumpTo(dump).run(StrangeNames.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            Testimony.of(jvm).mustHoldIn(dump);
            try (SharkReader shark = new SharkReader(dump); NetBeansReader netBeans = new NetBeansReader(dump)) {
                List<Histogram> histograms = List.of(shark.histogram(), netBeans.histogram(), new SlurpReader(dump).histogram());
                for (String[] line : Testimony.of(jvm).all("NAMED")) {
                    String name = Escapes.undo(line[2]);
                    for (Histogram histogram : histograms) {
                        assertEquals(Long.parseLong(line[1]), histogram.of(name), "instances of " + line[2]);
                    }
                }
                assertEquals(3, netBeans.classes("strange.Twin").size(), "classes of one name, each of its own loader");
                // A lone surrogate has no UTF-8: whatever stands for it, the rest of the name is there.
                assertEquals(1, netBeans.histogram().matching("strange\\.lone.{1,6}surrogate"), "the lone surrogate's class");
            }
        }
    }

    static List<Jdk> since17() {
        return Jdks.since(17);
    }

    @ParameterizedTest
    @Rows("since17")
    void recordsEnumsAndHiddenClassesAreKept(Jdk jdk) {
        Path dump = folder.resolve("modern.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-Xmx64m").classPath(Javac.subjects(17)).dumpTo(dump)
                .run("values.Modern").ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            Testimony.of(jvm).mustHoldIn(dump);
            try (NetBeansReader netBeans = new NetBeansReader(dump)) {
                assertEquals(6, netBeans.histogram().matching("values\\.Modern\\$Template.+"), "instances of hidden classes");
            }
        }
    }
}
