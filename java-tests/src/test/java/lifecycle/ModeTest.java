package lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Command;
import harness.Folder;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.Mode;
import harness.Rows;
import harness.Tools;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** Each file of the agent has the mode of the option, and without it no other user reads a dump. */
class ModeTest {
    @TempDir Path folder;

    static List<Jdk> some() {
        return List.of(Jdks.of(8), Jdks.of(25));
    }

    @ParameterizedTest
    @Rows("some")
    void eachFileHasTheModeThatIsSaid(Jdk jdk) {
        // HotSpot's own dumper makes a file of its own first; the text is made of a binary dump.
        List<String> ways = List.of("file=a.hprof", "file=b.hprof.gz", "file=c.hprof,stop=always", "file=d.txt,format=a");
        for (String way : ways) {
            try (Jvm jvm = masked(jdk, "077").agent("heap=dump,mode=0640," + way).run(Patient.class).ready()) {
                assertEquals(0, jvm.end(), jvm.err::text);
                jvm.dumped(1);
            }
        }
        String said = "rw-r-----";
        assertEquals(Map.of("a.hprof", said, "b.hprof.gz", said, "c.hprof", said, "d.txt", said), Mode.of(folder));
    }

    /** jcmd of Java 8 loads no agent. */
    static List<Jdk> withCommands() {
        return List.of(Jdks.of(11), Jdks.of(25));
    }

    @ParameterizedTest
    @Rows("withCommands")
    void whatConditionsAndCommandsCauseHasItToo(Jdk jdk) {
        Jvm watched = masked(jdk, "077")
                .agent("heap=dump,doe=n,mode=0644,on=every=1s,count=1,do=histo=a.jsonl").run(Patient.class);
        try (Jvm jvm = watched.ready()) {
            Path dump = folder.resolve("asked.hprof");
            Command.run(Tools.command(), "dump", jvm.pid(), "-o", dump, "--options", "mode=0660").good();
            jvm.attach("heap=dump,mode=0606,do=leaks=" + folder.resolve("a.txt") + ",hprof=" + Tools.command()).good();
            new Folder(folder).await("a.jsonl", Jvm.LIMIT);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        assertEquals(Map.of("a.jsonl", "rw-r--r--", "asked.hprof", "rw-rw----", "a.txt", "rw----rw-"),
                Mode.of(folder));
    }

    @ParameterizedTest
    @Rows("some")
    void withoutAWordADumpIsItsOwners(Jdk jdk) {
        try (Jvm jvm = masked(jdk, "0").agent("heap=dump,file=a.hprof").run(Patient.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            assertTrue(jvm.dumped(1).contains("a.hprof"), jvm.err::text);
        }
        assertEquals(Map.of("a.hprof", "rw-------"), Mode.of(folder));
    }

    private Launch masked(Jdk jdk, String mask) {
        return Jvm.on(jdk, folder).through("sh", "-c", "umask " + mask + " && exec \"$@\"", "sh");
    }
}
