package readers;

import harness.Javac;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.Rows;
import harness.Testimony;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;

/** The judges on trial: HotSpot's own dumps, no agent anywhere, must satisfy them all. */
class ReadersTest {
    @TempDir Path folder;

    @ParameterizedTest
    @Rows("harness.Jdks#all")
    void agreeOnHotspotsOwnDump(Jdk jdk) {
        judge(Jvm.on(jdk, folder), "readers.Few");
    }

    static Stream<Arguments> subjects() {
        return List.of("values.Extremes", "million.MillionObjects", "threads.Workers").stream()
                .flatMap(subject -> Stream.of(8, 17, 25).map(major -> Arguments.of(subject, Jdks.of(major))));
    }

    @ParameterizedTest
    @Rows("subjects")
    void agreeWithTheSubjectsOfOtherTests(String subject, Jdk jdk) {
        judge(Jvm.on(jdk, folder), subject);
    }

    static List<Jdk> since17() {
        return Jdks.since(17);
    }

    @ParameterizedTest
    @Rows("since17")
    void agreeOnModernClasses(Jdk jdk) {
        judge(Jvm.on(jdk, folder).classPath(Javac.subjects(17)), "values.Modern");
    }

    private void judge(Launch launch, String subject) {
        try (Jvm jvm = launch.switches("-Xmx256m").run(subject).ready()) {
            Testimony.of(jvm).mustAgreeWith(jvm.hotspotDump(folder.resolve("hotspot.hprof")));
        }
    }
}
