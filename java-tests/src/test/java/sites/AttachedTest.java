package sites;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Command;
import harness.Folder;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.SharkReader;
import harness.Tools;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** An agent that is attached to a running JVM has no allocations: it says so, or dumps without stacks. */
class AttachedTest {
    @TempDir Path folder;

    static List<Jdk> jdks() {
        return List.of(Jdks.of(17), Jdks.of(25));
    }

    @ParameterizedTest
    @Rows("jdks")
    void thereAreNoSitesOfAJvmThatRunsAlready(Jdk jdk) {
        Path dump = folder.resolve("all.hprof");
        try (Jvm jvm = Jvm.on(jdk, folder).run(Leak.class).ready()) {
            Command sites = jvm.attach("heap=sites,sampling=64k,file=" + folder.resolve("sites.hprof"));
            assertTrue(sites.out.contains("return code: 200"), sites::toString);
            jvm.err.await("hprof-rs: no report: profiles are made from the start of the JVM only", Jvm.LIMIT);

            Command all = jvm.attach("heap=all,sampling=64k,file=" + dump);
            assertTrue(all.out.contains("return code: 0"), all::toString);
            jvm.err.await("hprof-rs: the dump will have no allocation sites", Jvm.LIMIT);
            // Nobody listens for it: each attach was a command, and is over.
            jvm.jcmd("JVMTI.data_dump").good();
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        assertEquals(Set.of("all.hprof"), new Folder(folder).dumps(), "no report of what was refused, and none at the end");
        new HprofCheck(dump).good();
        assertTrue(new SharkReader(dump).histogram().of("byte[]") >= Leak.LEAKS);
        for (String from : List.of("sites", "dump")) {
            Command asked = Command.run(Tools.command(), "sites", dump, "--from", from);
            assertTrue(asked.exit == 2 && asked.err.contains("no allocation sites"), asked::toString);
        }
    }
}
