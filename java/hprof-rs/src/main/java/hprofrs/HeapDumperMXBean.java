package hprofrs;

import java.io.IOException;
import java.util.List;

/** The heap by JMX: the operation of HotSpotDiagnosticMXBean, one with the agent's options, and two questions. */
public interface HeapDumperMXBean {
    /** Where {@link HeapDumper#register} puts it. */
    String NAME = "hprofrs:type=HeapDumper";

    /**
     * Dumps the reachable objects to a new file.
     *
     * @param file the file, in a folder that exists; its name ends in {@code .hprof} or {@code .hprof.gz}
     * @param live must be true: unreachable objects cannot be dumped
     * @throws IOException if there is no dump; the message has the reason
     */
    void dumpHeap(String file, boolean live) throws IOException;

    /**
     * Dumps the reachable objects to a new file.
     *
     * @param file the file, in a folder that exists; its name ends in {@code .hprof} or {@code .hprof.gz}
     * @param options those that {@link DumpOptions#with} takes, such as {@code gz=1,redact=strings}; may be empty
     * @return what was dumped, as a line of text
     * @throws IOException if there is no dump; the message has the reason
     */
    String dump(String file, String options) throws IOException;

    /**
     * Counts the objects that something refers to.
     *
     * @return the classes, the largest first
     * @throws IOException if they cannot be counted; the message has the reason
     */
    List<ClassCount> histogram() throws IOException;

    /**
     * What keeps the memory.
     *
     * @return the answer of {@code hprof leaks}, of several lines
     * @throws IOException if there is none; the message has the reason
     */
    String leaks() throws IOException;
}
