package harm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Beside;
import harness.Collector;
import harness.Command;
import harness.Folder;
import harness.Jdks;
import harness.Jvm;
import harness.OnlyInTestAll;
import harness.Rows;
import harness.Setup;
import harness.Tools;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Each call of the system that the agent makes for a dump fails once, in the JVM and in its copy: the first, one in between and the
 * last, as if nothing were left for a moment. Then there is a whole dump or a line that says why there is none; the application was
 * not stopped for HotSpot's dumper, runs on, and has no descriptor, child or file more than before. An allocation of memory that
 * fails is left out: it ends the process, as it does for HotSpot.
 */
@OnlyInTestAll("makes some hundred dumps; ScarceTest and FilterTest have the errors that were met")
class FaultTest {
    /** What a moment can lack: descriptors and processes, memory, a device that answers. */
    private static final int EINTR = 4, EIO = 5, EAGAIN = 11, ENOMEM = 12, EMFILE = 24;
    private static final Set<String> OF_MEMORY = Set.of("madvise", "mmap", "mmap64", "mprotect", "mremap", "munmap");
    private static final Set<String> OF_PROCESSES = Set.of("clone", "fork", "posix_spawn", "pthread_create", "timer_create", "syscall");
    private static final Set<String> OF_WAITS = Set.of("poll", "waitid", "waitpid");
    private static final Set<String> OF_DESCRIPTORS =
            Set.of("open", "open64", "opendir", "pipe2", "socket", "socketpair", "dup2", "dup3", "fcntl");

    /**
     * What the agent's library takes from the system and fault.c leaves alone: memory, which ends who has none; what cannot fail with
     * such arguments, or only computes; what gives back; locks; and the language's own.
     */
    private static final Pattern LEFT_ALONE = Pattern.compile("(?:m|c|re)alloc|free|posix_memalign|malloc_trim|mem\\w+|bcmp|strlen|expm1"
            + "|__\\w+|_ITM_\\w+|_Unwind_\\w+|_?exit|abort|environ|getenv|getauxval|gete?uid|getp?pid|gettid|gnu_get_libc_version|sysconf"
            + "|clock_gettime|localtime_r|gai_strerror|freeaddrinfo|alarm|pause|kill|sched_yield|close(?:dir)?|dirfd|dladdr|dlsym"
            + "|dl_iterate_phdr|sem_\\w+|sig(?:add|del|empty|fill|is)\\w+|posix_spawn(?:attr|_file_actions)_\\w+|pthread_attr_\\w+"
            + "|pthread_(?:detach|join|self|sigmask|setspecific|key_create|key_delete)");

    private static final int NAME_BYTES = 24, HEAD_BYTES = 24;

    private static Path library;

    @TempDir static Path built;
    @TempDir Path folder;

    private ByteBuffer plan;
    private int functions;

    @BeforeAll
    static void compile() {
        Assumptions.assumeTrue(Jdks.of(17).processor().equals("amd64"), "fault.c knows how x86-64 passes arguments");
        library = built.resolve("fault.so");
        Path source = Paths.get(System.getProperty("basedir", ""), "src/test/java/harm/fault.c");
        Command.run("cc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl").good();
    }

    @Test
    void eachFunctionOfTheSystemIsKnown() {
        Set<String> failing = symbols("--defined-only", library);
        Set<String> unknown = symbols("--undefined-only", Tools.agent());
        assertTrue(unknown.size() > 100 && failing.size() > 50, unknown + " " + failing);
        unknown.removeIf(name -> failing.contains(name) || LEFT_ALONE.matcher(name).matches());
        assertEquals(Set.of(), unknown, "functions that fault.c neither fails nor may leave alone");
    }

    private static Set<String> symbols(String which, Path library) {
        return Command.run("nm", "-D", which, library).good().out.lines()
                .map(line -> line.replaceAll(".* |@.*", "")).collect(Collectors.toCollection(TreeSet::new));
    }

    static Stream<Setup> setups() {
        return Stream.of(Setup.of(Jdks.of(17), Collector.G1), Setup.of(Jdks.of(21), Collector.ZGC),
                Setup.of(Jdks.of(25), Collector.PARALLEL), Setup.of(Jdks.of(8), Collector.SERIAL));
    }

    @Beside
    @ParameterizedTest
    @Rows("setups")
    void eachCallMayFailOnce(Setup setup) throws IOException {
        Path file = folder.resolve("plan");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            plan = channel.map(FileChannel.MapMode.READ_WRITE, 0, 1 << 16).order(ByteOrder.LITTLE_ENDIAN);
        }
        Path dumps = Files.createDirectories(folder.resolve("dumps"));
        List<String> wrong = new ArrayList<>();
        try (Jvm jvm = setup.on(folder).switches("-Xmx128m").through("env", "LD_PRELOAD=" + library, "FAULT=" + file)
                .agent("heap=dump,doe=n,timeout=5,file=" + dumps.resolve("out.%n.hprof")).run(Storm.class, "8", "quiet").ready()) {
            functions = plan.getInt(20);
            int number = 0;
            int failed = 0;
            // The first dump loads what later ones find, the second one shows what a dump calls.
            for (int i = 0; i < 2; i++) {
                clear();
                dump(jvm, ++number, "no fault", wrong);
            }
            assertEquals(List.of(), wrong);
            int[][] calls = {calls(0), calls(1)};
            long descriptors = descriptors(jvm);
            for (int inCopy = 0; inCopy < 2; inCopy++) {
                for (int function = 0; function < functions; function++) {
                    int count = calls[inCopy][function];
                    for (int call : new TreeSet<>(List.of(Math.min(1, count), (count + 1) / 2, count))) {
                        if (call > 0) {
                            fail(inCopy, function, call);
                            String what = (inCopy > 0 ? "the copy's " : "the JVM's ") + name(function) + " " + call + " of " + count;
                            dump(jvm, ++number, what, wrong);
                            failed += plan.getInt(16);
                            // The agent fills its reserve after it has told of the end.
                            new Folder(folder).await(() -> descriptors(jvm) <= descriptors,
                                    "as few descriptors as before, after " + what + ", which was found after " + wrong, Jvm.LIMIT);
                        }
                    }
                }
            }
            clear();
            dump(jvm, ++number, "after all", wrong);
            // Another dump may make a call less.
            assertTrue(failed > 60 && failed > number * 3 / 4, failed + " calls failed in " + number + " dumps");
            assertEquals(0, jvm.end(), jvm.err::text);
        }
        assertEquals(List.of(), wrong, () -> wrong.size() + " faults:\n" + String.join("\n", wrong));
    }

    /** Asks for a dump and looks at what became of it. */
    private void dump(Jvm jvm, int number, String what, List<String> wrong) throws IOException {
        jvm.signal("QUIT");
        String line = jvm.err.await(number, "word of a dump's end after " + what + ", which was found after " + wrong,
                text -> text.startsWith("hprof-rs: dumped ") || text.startsWith("hprof-rs: no dump"), Jvm.LIMIT);
        plan.putInt(8, 0);
        if (line.startsWith("hprof-rs: dumped ")) {
            Path file = Path.of(line.replaceAll(".*dumped |: \\d+ bytes.*", ""));
            Command checked = Command.run(Tools.command(), "check", "--strict", file);
            if (checked.exit != 0) {
                wrong.add(what + ": " + checked);
            }
            if (!line.contains("engine snapshot")) {
                wrong.add(what + ": " + line);
            }
            Files.delete(file);
        } else if (!line.matches("hprof-rs: no dump: \\S.*")) {
            wrong.add(what + ": " + line);
        }
        Folder left = new Folder(folder.resolve("dumps"));
        if (!left.names().isEmpty()) {
            wrong.add(what + ": left " + left.names() + " after " + line);
            for (String name : left.names()) {
                Files.delete(folder.resolve("dumps").resolve(name));
            }
        }
        new Folder(folder).await(() -> Children.of(jvm.pid()).isEmpty(), "the end of its copy after " + what + ", which was found after " + wrong, Jvm.LIMIT);
        jvm.say("after " + number).out.await("ECHO after " + number, Jvm.LIMIT);
    }

    private void clear() {
        plan.putInt(8, 0);
        int calls = HEAD_BYTES + functions * NAME_BYTES;
        for (int i = 0; i < 2 * functions; i++) {
            plan.putInt(calls + 4 * i, 0);
        }
    }

    private void fail(int inCopy, int function, int call) {
        clear();
        plan.putInt(0, inCopy);
        plan.putInt(4, function);
        plan.putInt(12, error(name(function)));
        plan.putInt(16, 0);
        plan.putInt(8, call);
    }

    private static int error(String function) {
        return OF_MEMORY.contains(function) ? ENOMEM : OF_PROCESSES.contains(function) ? EAGAIN
                : OF_DESCRIPTORS.contains(function) ? EMFILE : OF_WAITS.contains(function) ? EINTR : EIO;
    }

    private String name(int function) {
        byte[] name = new byte[NAME_BYTES];
        for (int i = 0; i < NAME_BYTES; i++) {
            name[i] = plan.get(HEAD_BYTES + function * NAME_BYTES + i);
        }
        return new String(name, StandardCharsets.US_ASCII).trim();
    }

    private int[] calls(int inCopy) {
        int[] calls = new int[functions];
        for (int i = 0; i < functions; i++) {
            calls[i] = plan.getInt(HEAD_BYTES + functions * NAME_BYTES + 4 * (inCopy * functions + i));
        }
        return calls;
    }

    private static long descriptors(Jvm jvm) {
        try (Stream<Path> all = Files.list(Paths.get("/proc/" + jvm.pid() + "/fd"))) {
            return all.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
