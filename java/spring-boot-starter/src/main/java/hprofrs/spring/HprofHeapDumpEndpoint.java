package hprofrs.spring;

import hprofrs.DumpOptions;
import hprofrs.DumpOptions.Redaction;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.boot.actuate.management.HeapDumpWebEndpoint;

/**
 * {@code /actuator/heapdump}, made by hprof-rs. A failure is an answer with status 503, and its reason in the log; never a
 * dump of another kind.
 */
class HprofHeapDumpEndpoint extends HeapDumpWebEndpoint {
    private static final Log LOG = LogFactory.getLog(HprofHeapDumpEndpoint.class);

    private final DumpOptions options;

    HprofHeapDumpEndpoint(Redaction redact, boolean stop) {
        options = DumpOptions.none().redact(redact).stop(stop);
    }

    @Override
    protected HeapDumper createHeapDumper() {
        return new Dumper();
    }

    /** Has the methods of both generations of the interface. */
    private final class Dumper implements HeapDumper {
        /** Spring Boot 2: to a file that does not exist. */
        @Override
        public void dumpHeap(File file, boolean live) {
            dump(file, live);
        }

        /** Spring Boot 3: to a file of our own, which the caller removes. */
        @SuppressWarnings("unused")
        public File dumpHeap(Boolean live) throws IOException {
            File file = File.createTempFile("heap-", ".hprof");
            // The agent replaces no file.
            Files.delete(file.toPath());
            dump(file, live == null || live);
            return file;
        }

        private void dump(File file, boolean live) {
            if (!live) {
                throw unavailable("only reachable objects can be dumped: leave live=false out", null);
            }
            try {
                hprofrs.HeapDumper.dump(file.toPath(), options);
            } catch (IOException | UnsatisfiedLinkError e) {
                throw unavailable(e.getMessage(), e);
            }
        }

        private HeapDumperUnavailableException unavailable(String reason, Throwable cause) {
            String message = "no heap dump: " + reason;
            LOG.warn(message);
            return new HeapDumperUnavailableException(message, cause);
        }
    }
}
