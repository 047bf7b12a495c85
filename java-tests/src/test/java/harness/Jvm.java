package harness;

import java.io.File;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A running JVM: its output, its input, its end. Closing it kills it. */
public final class Jvm implements AutoCloseable {
    /** Ample for anything on two busy cores; nothing waits this long unless it is stuck. An emulator may need more. */
    public static final Duration LIMIT = Duration.ofSeconds(Integer.getInteger("patience", 60));

    private final Jdk jdk;
    private final Process process;
    private final List<String> words;
    private final Writer input;
    private final File socket;
    private final long began = System.nanoTime();
    public final Output out;
    public final Output err;

    Jvm(Jdk jdk, Process process, List<String> words, Path logs) throws IOException {
        this.jdk = jdk;
        this.process = process;
        socket = new File("/tmp/.java_pid" + pid());
        this.words = words;
        input = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
        long number;
        try (Stream<Path> entries = Files.list(logs)) {
            number = entries.count();
        }
        out = new Output("stdout", process.getInputStream(), logs.resolve(number + ".out"));
        err = new Output("stderr", process.getErrorStream(), logs.resolve(number + ".err"));
    }

    /** A JVM to be run in this folder, which also takes its logs. */
    public static Launch on(Jdk jdk, Path folder) {
        return new Launch(jdk, folder);
    }

    /** The JVM's own process: what it was started through has become it. Below it are only copies that it made to dump. */
    public long pid() {
        return process.pid();
    }

    /** Waits for the subject's word that it is ready to be looked at. */
    public Jvm ready() {
        try {
            out.await("READY", LIMIT);
            Durations.started(System.nanoTime() - began);
            removeStaleSocket();
            return this;
        } catch (AssertionError e) {
            throw new AssertionError(e.getMessage() + "\nstderr:\n" + err.text() + "\nof " + String.join(" ", words), e);
        }
    }

    /**
     * A JVM that was killed leaves its socket, by which nobody can attach to a later one with its process id. That of another
     * user stays.
     */
    private void removeStaleSocket() {
        if (socket.lastModified() < process.toHandle().info().startInstant().map(Instant::toEpochMilli).orElse(0L)) {
            socket.delete();
        }
    }

    /** Sends the subject a word. */
    public Jvm say(String word) {
        try {
            input.write(word + "\n");
            input.flush();
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public void signal(String name) {
        Command.kill(name, pid());
    }

    /** Lets none of its threads run until `goOn`, so that readers of its dumps have the processors. */
    public void standStill() {
        signal("STOP");
    }

    public void goOn() {
        signal("CONT");
    }

    /** The n-th line about a finished dump. */
    public String dumped(int count) {
        return err.await(count, "word of a finished dump", line -> line.contains("hprof-rs: dumped"), LIMIT);
    }

    /** Asks the JVM something by jcmd. */
    public Command jcmd(String... words) {
        Object[] all = new Object[words.length + 2];
        all[0] = jdk.jcmd();
        all[1] = pid();
        System.arraycopy(words, 0, all, 2, words.length);
        return Command.run(all);
    }

    /** HotSpot's own dump of this JVM. */
    public Path hotspotDump(Path file) {
        jcmd("GC.heap_dump", file.toString()).good();
        return file;
    }

    /** The same, but without a collection first and with the garbage that there is. */
    public Path hotspotDumpAll(Path file) {
        jcmd("GC.heap_dump", "-all", file.toString()).good();
        return file;
    }

    /** Loads the agent into the running JVM. */
    public Command attach(String options) {
        // The argument is one option of jcmd's own grammar, where quotes keep ',' and '=' together.
        return jcmd("JVMTI.agent_load", '"' + Tools.agent().toString() + '"', '"' + options + '"');
    }

    /** Waits for the end of the process and gives its exit code. */
    public int exit() {
        try {
            if (!process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new AssertionError("time is up, the JVM still runs; stdout:\n" + out.text() + "stderr:\n" + err.text() + threads());
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        out.awaitEnd(LIMIT);
        err.awaitEnd(LIMIT);
        return process.exitValue();
    }

    /** What each thread of the process does, as Linux tells it: name, state, ticks of the processor, the call it waits in. */
    private String threads() {
        try (Stream<Path> tasks = Files.list(Paths.get("/proc/" + process.pid() + "/task"))) {
            return tasks.map(task -> "\n" + fact(task, "stat") + " in " + fact(task, "wchan")).collect(Collectors.joining());
        } catch (IOException gone) {
            return gone.toString();
        }
    }

    private static String fact(Path task, String name) {
        try {
            return new String(Files.readAllBytes(task.resolve(name)), StandardCharsets.UTF_8).trim();
        } catch (IOException gone) {
            return gone.toString();
        }
    }

    /** Its exit code. Each time that it reports that it has lost a signal, it has that signal again. */
    public int exitOrSignal(String name, String lost) {
        long answered = 0;
        try {
            for (long waited = 0; waited < LIMIT.toMillis() && !process.waitFor(100, TimeUnit.MILLISECONDS); waited += 100) {
                long reported = err.count(lost);
                if (reported > answered) {
                    answered = reported;
                    signal(name);
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return exit();
    }

    /** Asks the subject to end, and waits for it. */
    public int end() {
        say("exit");
        return exit();
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        try {
            process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
            socket.delete();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
