package hprofrs;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Writes heap dumps of this JVM, and lists what is in its heap.
 *
 * <p>The application pauses for milliseconds, while the process is forked; the copy writes the file. Where the heap
 * cannot be copied, as with ZGC of Java 11, the application is stopped for as long as HotSpot's own dump takes, unless {@link
 * DumpOptions#stop} forbids it.
 *
 * <p>All methods may be called by any thread, one dump at a time. The native library is loaded at the first of them.
 */
public final class HeapDumper {
    private HeapDumper() {}

    /**
     * Dumps all reachable objects to a new file; compressed if its name ends in {@code .gz}.
     *
     * @param file the file, in a folder that exists
     * @return what was dumped, as a line of text
     * @throws FileAlreadyExistsException if the file exists
     * @throws IOException if there is no dump; the message has the reason
     */
    public static String dump(Path file) throws IOException {
        return dump(file, DumpOptions.none());
    }

    /**
     * Dumps all reachable objects to a new file.
     *
     * @param file the file, in a folder that exists
     * @param options how the file is written, and what it holds
     * @return what was dumped, as a line of text
     * @throws FileAlreadyExistsException if the file exists
     * @throws IllegalArgumentException if an option is wrong
     * @throws IOException if there is no dump; the message has the reason
     */
    public static String dump(Path file, DumpOptions options) throws IOException {
        Path target = unused(file);
        List<String> lines = Agent.command("heap=dump,format=b,force=n,file=" + DumpOptions.fileName(target) + options.text()
                // The answer is needed, whatever the options are.
                + ",verbose=y");
        String said = lines.stream().filter(line -> line.startsWith("dumped ")).findFirst()
                .orElse("the agent did not name it");
        if (!said.startsWith("dumped " + target + ":")) {
            throw new IOException(target + " was made by another process meanwhile, so the dump has another name: " + said);
        }
        return said;
    }

    /**
     * Counts the objects that something refers to, in a forked copy of the process. No dump is written.
     *
     * @return the classes, the largest first
     * @throws IOException if the heap cannot be copied, as with ZGC of Java 11; the message has the reason
     */
    public static List<ClassCount> histogram() throws IOException {
        return ClassCount.all(answerOf("heap=dump,do=histo=", "histo.jsonl"));
    }

    /**
     * What keeps the memory: the answer of {@code hprof leaks} about this heap. A forked copy sends the objects, without
     * values, to the command in the jar, which runs in a process of its own and takes some 60 bytes for each of them.
     *
     * @return the answer, of several lines
     * @throws IOException if the heap cannot be copied, as with ZGC of Java 11, or the command cannot answer; the message has the reason
     */
    public static String leaks() throws IOException {
        String command = DumpOptions.plainName(AnalysisCommand.file());
        String answer = answerOf("heap=dump,verbose=n,hprof=" + command + ",do=leaks=", "leaks.txt");
        // The first line has time and cause, for a file with many answers.
        return answer.substring(answer.indexOf('\n') + 1).trim();
    }

    /**
     * Reports the allocation sites of this JVM, as text in the classic layout: also those of which nothing is alive. The
     * JVM must have been started with {@code -agentpath:LIBRARY=heap=sites} or {@code heap=all}, and {@code
     * -Dhprofrs.library} must name the same file, because a copy of the library is another agent.
     *
     * @param file the file, in a folder that exists
     * @throws FileAlreadyExistsException if the file exists
     * @throws IOException if there is no report; the message has the reason
     */
    public static void sites(Path file) throws IOException {
        Path target = unused(file);
        Agent.command("heap=sites,format=a,force=n,cutoff=0,verbose=n,file=" + DumpOptions.fileName(target));
    }

    /**
     * The agent's library, for the start of another JVM with {@code -agentpath}: the file that {@code -Dhprofrs.library}
     * names, or a copy of that in the jar, which lives as long as this JVM.
     *
     * @throws IOException if it cannot be copied
     * @throws UnsatisfiedLinkError if the jar has no library for this JVM
     */
    public static Path library() throws IOException {
        return Library.file();
    }

    /** The absolute path of a file that does not exist. */
    private static Path unused(Path file) throws IOException {
        Path target = file.toAbsolutePath();
        if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
            throw new FileAlreadyExistsException(target.toString());
        }
        return target;
    }

    /** What a command writes to the file with which it ends. */
    private static String answerOf(String command, String name) throws IOException {
        Path folder = Files.createTempDirectory("hprof-rs");
        Path file = folder.resolve(name);
        try {
            Agent.command(command + DumpOptions.fileName(file));
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        } finally {
            Files.deleteIfExists(file);
            Files.delete(folder);
        }
    }

    /**
     * Registers {@link HeapDumperMXBean} with the platform's MBean server as {@value HeapDumperMXBean#NAME}.
     * Does nothing if it is registered.
     */
    public static void register() {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        try {
            server.registerMBean(new HeapDumperBean(), new ObjectName(HeapDumperMXBean.NAME));
        } catch (InstanceAlreadyExistsException e) {
            // Another thread has registered the same.
        } catch (JMException e) {
            throw new IllegalStateException(e);
        }
    }
}
