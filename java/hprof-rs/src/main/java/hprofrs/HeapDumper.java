package hprofrs;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Writes heap dumps of this JVM.
 *
 * <p>The application pauses for milliseconds, while the process is forked; the copy writes the file. Where the heap
 * cannot be forked, as with ZGC, the application is stopped for as long as HotSpot's own dump takes, unless {@link
 * DumpOptions#stop} forbids it.
 *
 * <p>All methods may be called by any thread, one dump at a time. The native library is loaded at the first dump.
 */
public final class HeapDumper {
    private HeapDumper() {}

    /**
     * Dumps all reachable objects to a new file; compressed if its name ends in {@code .gz}.
     *
     * @param file the file, in a folder that exists
     * @return what was dumped, as a line of text
     * @throws FileAlreadyExistsException if the file exists
     * @throws IOException if there is no dump; the message says why
     */
    public static String dump(Path file) throws IOException {
        return dump(file, DumpOptions.none());
    }

    /**
     * Dumps all reachable objects to a new file.
     *
     * @param file the file, in a folder that exists
     * @param options how the file is written, and what it tells
     * @return what was dumped, as a line of text
     * @throws FileAlreadyExistsException if the file exists
     * @throws IllegalArgumentException if an option is wrong
     * @throws IOException if there is no dump; the message says why
     */
    public static String dump(Path file, DumpOptions options) throws IOException {
        Path target = file.toAbsolutePath();
        if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
            throw new FileAlreadyExistsException(target.toString());
        }
        String said =
                Agent.command("heap=dump,format=b,force=n,file=" + DumpOptions.fileName(target) + options.text()
                        // The answer is needed, whatever the options say.
                        + ",verbose=y");
        if (!said.startsWith("dumped " + target + ":")) {
            throw new IOException(target + " was made by somebody else meanwhile, so the dump has another name: " + said);
        }
        return said;
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
            // Whoever was first registered the same.
        } catch (JMException e) {
            throw new IllegalStateException(e);
        }
    }
}
