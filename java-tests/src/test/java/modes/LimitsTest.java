package modes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import harness.Folder;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Testimony;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;

/** A program that meets the end of its stack or of its heap meets it with the agent as it would without, and lives on. */
class LimitsTest {
    private static final List<String> MODES = List.of(
            "heap=sites,sampling=0",
            "cpu=samples,interval=1",
            "heap=all,sampling=0,cpu=times,monitor=y,format=a");

    @TempDir Path folder;

    static List<Arguments> cases() {
        List<Arguments> cases = new ArrayList<>();
        for (Jdk jdk : Jdks.majors()) {
            MODES.forEach(modes -> cases.add(Arguments.of(jdk, modes)));
        }
        return cases;
    }

    @ParameterizedTest
    @Rows("cases")
    void theEndOfTheStack(Jdk jdk, String modes) {
        survives(jdk, modes, "stack", "-Xmx256m");
    }

    @ParameterizedTest
    @Rows("cases")
    void theEndOfTheHeap(Jdk jdk, String modes) {
        survives(jdk, modes, "heap", "-Xmx32m");
    }

    private void survives(Jdk jdk, String modes, String end, String heap) {
        try (Jvm jvm = Jvm.on(jdk, folder).switches(heap, "-XX:+UseSerialGC").agent(modes).run(Limits.class, end)) {
            assertEquals(0, jvm.exit(), jvm.err::text);
            Testimony said = Testimony.of(jvm);
            assertEquals("null", said.all("WRONG").get(0)[1], jvm.err::text);
            String[] met = said.all("MET").get(0);
            assertEquals(met[2], met[1], "errors met");
            assertEquals(1, said.all("FREE").size(), "a monitor was kept");
        }
        assertFalse(new Folder(folder).dumps().isEmpty(), "no file");
        assertFalse(new Folder(folder).names().toString().contains("hs_err"), new Folder(folder).names()::toString);
    }
}
