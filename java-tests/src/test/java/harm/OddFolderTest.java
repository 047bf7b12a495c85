package harm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Command;
import harness.Folder;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import harness.Testimony;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.Set;
import lifecycle.Patient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** File systems that lack operations: object stores, networks, FUSE. No whole dump is lost there. */
class OddFolderTest {
    @TempDir Path folder;

    static List<Jdk> some() {
        return List.of(Jdks.of(8), Jdks.of(17), Jdks.of(25));
    }

    @ParameterizedTest
    @Rows("some")
    void aWholeDumpThatGetsNoNameStays(Jdk jdk) throws IOException {
        String options = "heap=dump,doe=n,file=" + folder.resolve("out.hprof");
        for (int run = 0; run < 2; run++) {
            try (Jvm jvm = refusing(jdk, "rename,sync", options)) {
                jvm.err.await("hprof-rs: the folder " + folder + " does not let files be renamed: ", Jvm.LIMIT);
                jvm.signal("QUIT");
                String part = folder.resolve(run == 0 ? "out.hprof.part" : "out.1.hprof.part").toString();
                jvm.err.await("hprof-rs: " + part + " is whole and stays there, as it cannot get the name ", Jvm.LIMIT);
                assertFalse(jvm.err.text().contains("no dump"), jvm.err::text);
                assertEquals(0, jvm.end(), jvm.err::text);
                Testimony.of(jvm).mustHoldIn(Paths.get(part));
            }
        }
        assertEquals(Set.of("out.hprof.part", "out.1.hprof.part"), new Folder(folder).dumps());
    }

    /** Packed, and text, too: what comes later leaves it where it is. */
    @ParameterizedTest
    @ValueSource(strings = {"out.hprof.gz", "out.txt"})
    void itStaysInAnyForm(String name) throws IOException {
        String options = "heap=dump,doe=n,format=" + (name.endsWith("txt") ? "a" : "b") + ",file=" + folder.resolve(name);
        long bytes = 0;
        for (int run = 0; run < 2; run++) {
            try (Jvm jvm = refusing(Jdks.of(17), "rename", options)) {
                jvm.signal("QUIT");
                jvm.err.await(1, "word of a whole file", line -> line.contains(" is whole and stays there"), Jvm.LIMIT);
                assertEquals(0, jvm.end(), jvm.err::text);
            }
            Path first = folder.resolve(name + ".part");
            if (name.endsWith("txt")) {
                assertTrue(new String(Files.readAllBytes(first), StandardCharsets.UTF_8).endsWith("HEAP DUMP END\n"));
            } else {
                new HprofCheck(first).good();
            }
            assertTrue(run == 0 || Files.size(first) == bytes);
            bytes = Files.size(first);
        }
        assertEquals(2, new Folder(folder).dumps().size(), () -> new Folder(folder).names().toString());
    }

    /** Whatever a file system lacks beside, a dump gets a name that was free. */
    @ParameterizedTest
    @ValueSource(strings = {"sync", "noreplace", "noreplace,nolink", "lock", "sync,noreplace,nolink,lock"})
    void aDumpDoesWithoutTheRest(String refused) throws IOException {
        Path there = Files.write(folder.resolve("out.hprof"), new byte[] {'x'});
        try (Jvm jvm = refusing(Jdks.of(17), refused, "heap=dump,file=" + there)) {
            jvm.signal("QUIT");
            jvm.dumped(1);
            assertEquals(0, jvm.end(), jvm.err::text);
            for (String name : List.of("out.1.hprof", "out.2.hprof")) {
                Testimony.of(jvm).mustHoldIn(folder.resolve(name));
            }
        }
        assertEquals(1, Files.size(there));
        assertEquals(Set.of("out.hprof", "out.1.hprof", "out.2.hprof"), new Folder(folder).dumps());
    }

    /** What another program holds at the name of an unfinished file is not touched, and costs no dump. */
    @Test
    void whatStandsInTheWayIsEvaded() throws IOException {
        Files.createDirectory(folder.resolve("out.hprof.part"));
        Files.createSymbolicLink(folder.resolve("out.1.hprof"), Paths.get("nowhere"));
        Path dump = folder.resolve("out.hprof");
        try (Jvm jvm = Jvm.on(Jdks.of(17), folder).dumpTo(dump).run(Patient.class).ready()) {
            assertEquals(0, jvm.end(), jvm.err::text);
            Testimony.of(jvm).mustHoldIn(folder.resolve("out.2.hprof"));
        }
        assertTrue(Files.isDirectory(folder.resolve("out.hprof.part")) && Files.isSymbolicLink(folder.resolve("out.1.hprof")));
    }

    private Jvm refusing(Jdk jdk, String refused, String options) {
        Path source = Paths.get(System.getProperty("basedir", ""), "src/test/java/harm/refusing.c");
        Path program = folder.resolve("refusing");
        Command.run("cc", "-o", program, source).good();
        return Jvm.on(jdk, folder).through(program.toString(), refused).agent(options).run(Patient.class).ready();
    }
}
