package harm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Command;
import harness.Engine;
import harness.Folder;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** What tests share that hold the forked copy of a JVM at a known place (see hold.c), do it harm, and check the JVM. */
abstract class HoldingTest {
    /** Where the copy is held. */
    enum Place {
        /** It has its manners, and knows nothing of the heap yet. */
        SETTLED("settled"),
        /** It knows how the heap is laid out; the parent has written the head of the file, the copy nothing yet. */
        WRITING("hprof writer"),
        /** It has begun to mark the heap. */
        MARKING("hprof walker 0"),
        /** All is marked. */
        ENCODING("hprof encoder 0");

        final String call;

        Place(String call) {
            this.call = call;
        }
    }

    /** The variable that has a library loaded first. An emulator has another for what it runs. */
    private static final String PRELOAD = System.getProperty("preload", "LD_PRELOAD");

    /** For all classes of such tests, which run beside each other. */
    private static Path library;

    @TempDir Path folder;
    /** The folder where hold.c names by files what it sees. */
    Path holds;

    @BeforeAll
    static void compile() throws IOException {
        synchronized (HoldingTest.class) {
            library = library == null ? compiled() : library;
        }
    }

    /** Away from the project, whose path may have a space, which ends a name of LD_PRELOAD. */
    private static Path compiled() throws IOException {
        Path folder = Files.createTempDirectory("hold");
        Path library = folder.resolve("hold.so");
        folder.toFile().deleteOnExit();
        library.toFile().deleteOnExit();
        Path source = Paths.get(System.getProperty("basedir", ""), "src/test/java/harm/hold.c");
        // A JVM for another processor needs another compiler.
        List<Object> words = new ArrayList<>(List.of(System.getProperty("cc", "cc").split(" ")));
        words.addAll(List.of("-shared", "-fPIC", "-o", library, source, "-ldl"));
        Command.run(words.toArray()).good();
        return library;
    }

    @BeforeEach
    void makePipe() throws IOException {
        holds = Files.createDirectories(folder.resolve("holds"));
        Command.run("mkfifo", holds.resolve("pipe")).good();
    }

    /** Two are enough: what happens to a copy is the system's doing and the agent's, not the JVM's. */
    static List<Jdk> two() {
        return List.of(Jdks.of(17), Jdks.of(25));
    }

    /** A JVM whose threads and those of its copies are watched, and whose first copy is held if HOLD names a place. */
    Launch watching(Jdk jdk, String options, Path dumps) {
        return Jvm.on(jdk, folder).switches("-Xmx256m")
                .through("env", PRELOAD + "=" + library, "HOLD_FOLDER=" + holds)
                .agent("heap=dump," + options + "file=" + dumps.resolve("out.%n.hprof"));
    }

    /** A JVM whose first copy will be held, with more options for the agent. */
    Launch holding(Jdk jdk, Place place, String options) {
        return holding(jdk, place, options, folder);
    }

    /** The same with another folder for the dumps. */
    Launch holding(Jdk jdk, Place place, String options, Path dumps) {
        return watching(jdk, options, dumps).through("env", "HOLD=" + place.call);
    }

    /** A program with few threads that define no classes: those would have the agent fork more than once. */
    static Jvm run(Launch launch) {
        return launch.run(Storm.class, "8", "quiet").ready();
    }

    /** Asks for a dump; the answer is the number of its copy, which is held. Meanwhile the application runs on. */
    long heldCopy(Jvm jvm) {
        jvm.signal("QUIT");
        long copy = awaitHeldCopy();
        assertEquals(1, Children.of(jvm.pid()).size(), () -> Children.of(jvm.pid()).toString());
        jvm.say("before").out.await("ECHO before", Jvm.LIMIT);
        return copy;
    }

    /** Waits until a copy is held; the answer is its number. */
    long awaitHeldCopy() {
        Folder names = new Folder(holds);
        names.await(() -> names.names().first().startsWith("held."), "a copy that is held", Jvm.LIMIT);
        return Long.parseLong(names.names().first().substring("held.".length()));
    }

    /** Lets the copy go on. */
    void release() throws IOException {
        new FileOutputStream(holds.resolve("pipe").toFile()).close();
    }

    static void signal(long copy, String name) {
        Command.kill(name, copy);
    }

    /** The line with the result of the n-th dump, without the agent's name. */
    static String outcome(Jvm jvm, int number) {
        String line = jvm.err.await(number, "word of a dump's end",
                text -> text.startsWith("hprof-rs: dumped") || text.startsWith("hprof-rs: no dump"), Jvm.LIMIT);
        // musl and glibc have different words for it.
        return line.substring("hprof-rs: ".length()).replace("Out of memory (os error", "Cannot allocate memory (os error");
    }

    /** There was no copy, or it did not live to the end. The application was not stopped for HotSpot's own dumper. */
    void lostItsCopy(Jvm jvm, String how) {
        gaveUp(jvm, how + "; the application ran on; try again, "
                + "or add stop=y to have it stopped for as long as HotSpot's own dump takes");
    }

    /** The first dump was made in another way, for this reason. */
    void fellBack(Jvm jvm, String reason) {
        String line = outcome(jvm, 1);
        assertTrue(line.endsWith(", engine hotspot, as " + reason + Engine.HOTSPOTS), line);
        new HprofCheck(folder.resolve("out.1.hprof")).good();
        isWell(jvm, Set.of("out.1.hprof", "out.2.hprof"));
    }

    /** The first dump was not made, for this reason. */
    void gaveUp(Jvm jvm, String reason) {
        assertEquals("no dump: " + reason, outcome(jvm, 1));
        isWell(jvm, Set.of("out.2.hprof"));
    }

    /** No trace of the copy is left, the application runs on and finds nothing wrong, and the next dump is as good as ever. */
    void isWell(Jvm jvm, Set<String> files) {
        assertEquals(List.of(), Children.of(jvm.pid()), "children and zombies");
        jvm.say("after").out.await("ECHO after", Jvm.LIMIT);
        assertEquals(0, jvm.end(), jvm.err::text);
        assertTrue(jvm.out.text().contains("HOLDS"), jvm.out::text);
        assertTrue(Engine.isSnapshot(outcome(jvm, 2)), jvm.err::text);
        new HprofCheck(folder.resolve("out.2.hprof")).good();
        assertEquals(files, new Folder(folder).dumps());
    }
}
