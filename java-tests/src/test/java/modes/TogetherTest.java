package modes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Beside;
import harness.Folder;
import harness.HprofCheck;
import harness.InTurn;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Testimony;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;

/**
 * All modes that go together at once, in a program that does all that they record: it comes to the same results, ends,
 * keeps no class, and the files are whole. {@code -Dseconds=180} lets each case run so long.
 */
@Isolated("keeps both processors busy")
class TogetherTest {
    private static final String SECONDS = System.getProperty("seconds", "1");
    private static final int SIGNALS = 3;
    private static final List<String> MODES = List.of(
            "heap=all,sampling=0,cpu=times,monitor=y,format=a",
            "heap=all,cpu=samples,interval=1,monitor=y,format=a,thread=y",
            "heap=all,sampling=0,cpu=samples,interval=1,format=b");

    private static final Pattern BEGIN = Pattern.compile("[A-Z ]+(\\(ms\\) )?BEGIN.*");
    private static final Pattern END = Pattern.compile("[A-Z ]+(\\(ms\\) )?END");
    private static final Pattern ROW = Pattern.compile(" *\\d+ +[0-9.]+% .*");

    @TempDir Path folder;

    static List<Arguments> cases() {
        List<Arguments> cases = new ArrayList<>();
        for (Jdk jdk : Jdks.majors()) {
            MODES.forEach(modes -> cases.add(Arguments.of(jdk, modes)));
        }
        return cases;
    }

    @InTurn("each mode has tests of its own")
    @ParameterizedTest
    @Beside
    @Rows("cases")
    void theProgramIsWell(Jdk jdk, String modes) throws IOException {
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-Xmx512m").agent(modes).run(Together.class, SECONDS).ready()) {
            for (int i = 1; i <= SIGNALS; i++) {
                jvm.signal("QUIT");
                jvm.dumped(i);
            }
            jvm.say("end").out.await("ENTERED", Jvm.LIMIT.plusSeconds(Long.parseLong(SECONDS)));
            jvm.out.await("LOADERS", Jvm.LIMIT.plusSeconds(Together.COLLECTING_SECONDS));
            jvm.out.await("WRONG", Jvm.LIMIT);
            assertEquals(0, jvm.exit(), jvm.err::text);
            mustBeRight(Testimony.of(jvm), jvm, jdk);
        }
        boolean isText = modes.contains("format=a");
        TreeSet<String> files = new Folder(folder).dumps();
        assertEquals((SIGNALS + 1) * (isText ? 2 : 1), files.size(), files::toString);
        for (String file : files) {
            if (isText) {
                mustBeWhole(folder.resolve(file));
            } else {
                new HprofCheck(folder.resolve(file)).good();
            }
        }
        assertFalse(new Folder(folder).names().toString().contains("hs_err"), new Folder(folder).names()::toString);
    }

    private static void mustBeRight(Testimony said, Jvm jvm, Jdk jdk) {
        assertEquals("null", said.all("WRONG").get(0)[1], () -> jvm.out.text() + "\n" + jvm.err.text());
        String[] entered = said.all("ENTERED").get(0);
        assertEquals(entered[1], entered[2], "turns under a monitor");
        String[] threads = said.all("THREADS").get(0);
        assertTrue(Long.parseLong(threads[1]) >= Together.THREADS, "threads: " + threads[1]);
        assertEquals(jdk.major >= 21, Long.parseLong(threads[2]) > 0, "virtual threads: " + threads[2]);
        String[] loaders = said.all("LOADERS").get(0);
        assertEquals("0", loaders[2], "loaders left of " + loaders[1]);
    }

    /** Each block that begins ends, and no trace is named that is not there. */
    private static void mustBeWhole(Path file) throws IOException {
        String open = "";
        int blocks = 0;
        TreeSet<Long> traces = new TreeSet<>();
        for (String line : new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).split("\n")) {
            if (line.startsWith("TRACE ")) {
                assertTrue(traces.add(Long.parseLong(line.substring(6).split("[: ]")[0])), () -> file + " twice: " + line);
            } else if (BEGIN.matcher(line).matches()) {
                assertEquals("", open, () -> file + ": " + line);
                open = line.substring(0, line.indexOf(" BEGIN"));
                blocks++;
            } else if (END.matcher(line).matches()) {
                assertEquals(open, line.substring(0, line.indexOf(" END")), file::toString);
                open = "";
            } else if (ROW.matcher(line).matches()) {
                String[] words = line.trim().split(" +");
                long trace = Long.parseLong(words[open.equals("SITES") ? 7 : 4]);
                assertTrue(traces.contains(trace), () -> file + " has no trace for " + line);
            }
        }
        assertEquals("", open, file::toString);
        assertTrue(blocks > 0, file::toString);
    }
}
