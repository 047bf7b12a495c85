package attach;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lifecycle.Patient;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** A JVM that refuses to be attached to gets no SIGQUIT, which would print all stacks, wherever the switch stands. */
class ClosedJvmTest extends CommandTest {
    private static final String CLOSED = "-XX:+DisableAttachMechanism";
    private static final String OPEN = "-XX:-DisableAttachMechanism";

    @TempDir Path folder;

    /** A JVM with variables and switches. */
    private static final class Start {
        final Jdk jdk;
        final List<String> variables = new ArrayList<>();
        final List<String> switches = new ArrayList<>();
        final boolean isClosed;

        Start(Jdk jdk, boolean isClosed, String... words) {
            this.jdk = jdk;
            this.isClosed = isClosed;
            for (String word : words) {
                (word.startsWith("-") || word.startsWith("@") ? switches : variables).add(word);
            }
        }

        @Override
        public String toString() {
            return jdk + " " + variables + " " + switches;
        }
    }

    static Stream<Start> starts() {
        List<Start> all = new ArrayList<>();
        for (Jdk jdk : List.of(Jdks.of(8), Jdks.of(17), Jdks.of(26))) {
            all.add(new Start(jdk, true, "JAVA_TOOL_OPTIONS=" + CLOSED));
            all.add(new Start(jdk, true, "_JAVA_OPTIONS=" + CLOSED, OPEN));
            all.add(new Start(jdk, true, "-XX:Flags=flags"));
            all.add(new Start(jdk, false, "JAVA_TOOL_OPTIONS=" + CLOSED, OPEN));
            all.add(new Start(jdk, false, CLOSED, OPEN));
            all.add(new Start(jdk, false, "JDK_JAVA_OPTIONS=" + (jdk.major == 8 ? CLOSED : OPEN)));
        }
        for (Jdk jdk : List.of(Jdks.of(17), Jdks.of(26))) {
            all.add(new Start(jdk, true, "JDK_JAVA_OPTIONS=" + CLOSED));
            all.add(new Start(jdk, true, "@arguments"));
            all.add(new Start(jdk, true, "-XX:VMOptionsFile=options"));
        }
        return all.stream();
    }

    /** With the JVM's own word in a file, and without that. */
    static List<List<Object>> ways() {
        return starts().flatMap(start -> Stream.of(List.<Object>of(start, "-XX:+UsePerfData"), List.<Object>of(start, "-XX:-UsePerfData")))
                .collect(Collectors.toList());
    }

    @BeforeEach
    void makeFiles() throws IOException {
        Files.writeString(folder.resolve("flags"), "# all\n+DisableAttachMechanism\n");
        Files.writeString(folder.resolve("arguments"), "# all\n-cp x \"" + CLOSED + "\"");
        Files.writeString(folder.resolve("options"), "-Dx='a b' " + CLOSED);
    }

    @ParameterizedTest
    @Rows("ways")
    void onlyAnOpenJvmIsSentASignal(List<Object> way) {
        Start start = (Start) way.get(0);
        String[] through = Stream.concat(Stream.of("env"), start.variables.stream()).toArray(String[]::new);
        String[] switches = Stream.concat(Stream.of((String) way.get(1)), start.switches.stream()).toArray(String[]::new);
        // A switch after the main class is the program's.
        try (Jvm jvm = Jvm.on(start.jdk, folder).through(through).switches(switches).run(Patient.class, start.isClosed ? OPEN : CLOSED).ready()) {
            if (start.isClosed) {
                mustRefuse(dump(jvm.pid()), "was started with " + CLOSED + ": no command can attach to it");
            } else {
                dump(jvm.pid(), "-o", folder.resolve("1.hprof")).good();
            }
            assertEquals(0, jvm.end(), jvm.err::text);
            assertFalse(jvm.out.text().contains("Full thread dump"), jvm.out::text);
        }
    }
}
