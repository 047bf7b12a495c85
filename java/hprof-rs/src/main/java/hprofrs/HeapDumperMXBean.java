package hprofrs;

import java.io.IOException;

/** Heap dumps by JMX: the operation of HotSpotDiagnosticMXBean, and one with the agent's options. */
public interface HeapDumperMXBean {
    /** Where {@link HeapDumper#register} puts it. */
    String NAME = "hprofrs:type=HeapDumper";

    /**
     * Dumps the reachable objects to a new file.
     *
     * @param file the file, in a folder that exists
     * @param live must be true: unreachable objects cannot be dumped
     * @throws IOException if there is no dump; the message says why
     */
    void dumpHeap(String file, boolean live) throws IOException;

    /**
     * Dumps the reachable objects to a new file.
     *
     * @param file the file, in a folder that exists
     * @param options options of the agent, such as {@code gz=1,redact=strings}; may be empty
     * @return what was dumped, as a line of text
     * @throws IOException if there is no dump; the message says why
     */
    String dump(String file, String options) throws IOException;
}
