package jar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Collector;
import harness.Folder;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.Rows;
import harness.Testimony;
import harness.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** A program that dumps its own JVM by the jar, which nobody started with an agent. */
class JarTest {
    @TempDir Path folder;

    static List<Jdk> majors() {
        return Jdks.majors();
    }

    static List<Jdk> since21() {
        return Jdks.since(21);
    }

    private int questions;

    private Launch on(Jdk jdk) {
        return Jvm.on(jdk, folder).switches("-Djava.io.tmpdir=" + folder).classPath(Tools.ownJar());
    }

    private Jvm started(Launch launch) {
        questions = 0;
        return launch.run(SelfDumper.class).ready();
    }

    /** The subject's answer to these words. */
    private String asked(Jvm jvm, String words) {
        questions++;
        String line = jvm.say(words).out.await(questions, "answer", said -> said.startsWith("DID "), Jvm.LIMIT);
        return line.substring("DID ".length());
    }

    @ParameterizedTest
    @Rows("majors")
    void aProgramDumpsItself(Jdk jdk) {
        try (Jvm jvm = started(on(jdk))) {
            Path plain = folder.resolve("a.hprof");
            Path packed = folder.resolve("100%p.hprof.gz");
            String said = asked(jvm, "dump " + plain);
            assertTrue(said.startsWith("dumped " + plain + ": "), said);
            said = asked(jvm, "jmx " + packed + " gz=3,verbose=n");
            assertTrue(said.startsWith("dumped " + packed + ": "), said);
            String inJmx = asked(jvm, "diagnostic " + folder.resolve("b.hprof") + " true");
            assertEquals("null", inJmx);
            String all = asked(jvm, "diagnostic " + folder.resolve("c.hprof") + " false");
            assertTrue(all.contains("only reachable objects"), all);
            said = asked(jvm, "dump " + plain);
            assertTrue(said.contains("FileAlreadyExistsException"), said);
            said = asked(jvm, "jmx " + folder.resolve("d.hprof") + " nothing=y");
            assertTrue(said.contains("nothing=y: this is no option of a single dump"), said);
            said = asked(jvm, "dump " + folder.resolve("none/d.hprof"));
            assertTrue(said.contains("IOException: no dump: ") && said.contains("there is no directory"), said);
            assertEquals(0, jvm.end(), jvm.err::text);
            // No dump at the end, no copy of the library, no answers.
            assertEquals(Set.of("a.hprof", "b.hprof", "100%p.hprof.gz", "logs"), new Folder(folder).names());
            Testimony.of(jvm).mustHoldIn(plain);
            Testimony.of(jvm).mustHoldIn(folder.resolve("b.hprof"));
            new HprofCheck(packed).good();
        }
    }

    /** Who may dump by JMX may not run programs, nor write other files. */
    @Test
    void whoAsksByJmxChoosesNothingButADump() throws IOException {
        Path evil = folder.resolve("evil.sh");
        Files.writeString(evil, "#!/bin/sh\ntouch " + folder.resolve("owned") + "\ncat > /dev/null\n");
        assertTrue(evil.toFile().setExecutable(true));
        Path victim = Files.createFile(folder.resolve("victim"));
        Path dump = folder.resolve("a.hprof");
        try (Jvm jvm = started(on(Jdks.of(17)))) {
            for (String options : new String[] {
                "do=leaks,hprof=" + evil, "do=histo=" + victim, "histo=" + victim, "exec=cat", "net=localhost:1", "force=y",
                "format=a", "files=1", "send=answer:" + victim, "send=dump:" + victim, "file=" + victim, "GZ=1",
            }) {
                String said = asked(jvm, "jmx " + dump + " " + options);
                assertTrue(said.contains("IllegalArgumentException") && said.contains("this is no option of a single dump"), said);
            }
            for (String name : new String[] {"a.jsp", "hprof", "a.hprof.sh", "a.HPROF", "a.gz"}) {
                for (String words : new String[] {"jmx " + folder.resolve(name) + " gz=1", "diagnostic " + folder.resolve(name) + " true"}) {
                    String said = asked(jvm, words);
                    assertTrue(said.contains("the name of a dump must end in .hprof or .hprof.gz: "), said);
                }
            }
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        assertEquals(Set.of("evil.sh", "victim", "logs"), new Folder(folder).names());
        assertEquals(0, Files.size(victim));
    }

    @ParameterizedTest
    @Rows("majors")
    void aProgramAsksWhatIsInItsHeap(Jdk jdk) {
        try (Jvm jvm = started(on(jdk))) {
            String said = asked(jvm, "histogram");
            // Three objects without fields.
            assertTrue(said.startsWith("jar.SelfDumper: 3 instances, 48 bytes; sorted; classes "), said);
            assertTrue(Integer.parseInt(said.substring(said.lastIndexOf(' ') + 1)) > 100, said);
            assertEquals("3 instances, 48 bytes", asked(jvm, "histogram by jmx"));
            for (String words : new String[] {"leaks", "leaks by jmx"}) {
                said = asked(jvm, words);
                assertTrue(said.startsWith("1,000 byte[] retain ") && said.contains(".LEAK (static)  byte[][] "), said);
            }
            assertEquals(0, jvm.end(), jvm.err::text);
            // No answers, no copy of the command.
            assertEquals(Set.of("logs"), new Folder(folder).names());
        }
    }

    @ParameterizedTest
    @Rows("majors")
    void aProgramAsksWhereItAllocates(Jdk jdk) throws IOException {
        Path sites = folder.resolve("sites.txt");
        // Another library than that in the jar, as the JVM has it from its start.
        Launch launch = on(jdk).switches("-Dhprofrs.library=" + Tools.agent()).agent("heap=sites,sampling=0,doe=n");
        try (Jvm jvm = started(launch)) {
            assertEquals("null", asked(jvm, "sites " + sites));
            assertTrue(asked(jvm, "sites " + sites).contains("FileAlreadyExistsException"));
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        String row = Files.readAllLines(sites).stream().filter(line -> line.endsWith(" jar.SelfDumper")).findFirst().orElse("none");
        assertTrue(row.matches(" *\\d+ +\\S+ +\\S+ +48 +3 +48 +3 +\\d+ jar.SelfDumper"), row);
        try (Jvm jvm = started(on(jdk))) {
            String said = asked(jvm, "sites " + folder.resolve("none.txt"));
            assertTrue(said.contains("IOException: no report: profiles are made from the start of the JVM only"), said);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    @ParameterizedTest
    @Rows("majors")
    void aCommandThatIsNotThereIsNamed(Jdk jdk) {
        try (Jvm jvm = started(on(jdk).switches("-Dhprofrs.command=/none/hprof"))) {
            String said = asked(jvm, "leaks");
            assertTrue(said.startsWith("java.io.IOException: do=leaks needs the command hprof, which is not at /none/hprof"), said);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    @ParameterizedTest
    @Rows("since21")
    void aVirtualThreadMayAsk(Jdk jdk) {
        try (Jvm jvm = started(on(jdk))) {
            Path dump = folder.resolve("a.hprof");
            String said = asked(jvm, "virtual " + dump);
            assertTrue(said.startsWith("dumped " + dump + ": "), said);
            assertEquals(0, jvm.end(), jvm.err::text);
            Testimony.of(jvm).mustHoldIn(dump);
        }
    }

    @Test
    void aHeapThatCannotBeForkedMayBeLeftAlone() {
        try (Jvm jvm = started(on(Jdks.of(11)).with(Collector.ZGC))) {
            Path dump = folder.resolve("a.hprof");
            String said = asked(jvm, "jmx " + dump + " stop=n");
            assertTrue(said.contains("IOException: no dump: "), said);
            assertTrue(Files.notExists(dump));
            said = asked(jvm, "dump " + dump);
            assertTrue(said.startsWith("dumped " + dump + ": ") && said.contains("engine hotspot"), said);
            said = asked(jvm, "histogram");
            assertTrue(said.contains("IOException: no sample of the heap: "), said);
            said = asked(jvm, "leaks");
            assertTrue(said.contains("IOException: no dump: "), said);
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    @ParameterizedTest
    @Rows("since21")
    void aLibraryThatCannotBeLoadedIsNamed(Jdk jdk) {
        try (Jvm jvm = started(on(jdk).switches("-Dhprofrs.library=" + folder.resolve("none.so")))) {
            for (int round = 1; round <= 2; round++) {
                String said = asked(jvm, "dump " + folder.resolve("a.hprof"));
                assertTrue(said.contains("UnsatisfiedLinkError") && said.contains("none.so"), said);
            }
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }
}
