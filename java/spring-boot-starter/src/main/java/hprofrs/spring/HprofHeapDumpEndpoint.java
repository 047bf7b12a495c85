package hprofrs.spring;

import hprofrs.DumpOptions;
import hprofrs.DumpOptions.Redaction;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.BeanWrapperImpl;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.management.HeapDumpWebEndpoint;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.lang.Nullable;
import org.springframework.util.MimeTypeUtils;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/**
 * {@code /actuator/heapdump}, made by hprof-rs. Without a dump, the answer and the log have the reason; there is never a
 * dump of another kind.
 */
class HprofHeapDumpEndpoint extends HeapDumpWebEndpoint {
    private static final Log LOG = LogFactory.getLog(HprofHeapDumpEndpoint.class);

    /** How long a request waits for the dump of another, as in Spring Boot. */
    private static final int MOST_SECONDS = 10;

    private final Lock dumping = new ReentrantLock();
    private final DumpOptions options;

    HprofHeapDumpEndpoint(Redaction redact, boolean stop) {
        options = DumpOptions.none().redact(redact).stop(stop);
    }

    @Override
    @ReadOperation
    public WebEndpointResponse<Resource> heapDump(@Nullable Boolean live) {
        if (isHead()) {
            return new WebEndpointResponse<>();
        }
        if (Boolean.FALSE.equals(live)) {
            return refused(WebEndpointResponse.STATUS_BAD_REQUEST, "only reachable objects can be dumped: leave live=false out");
        }
        try {
            if (!dumping.tryLock(MOST_SECONDS, TimeUnit.SECONDS)) {
                return refused(WebEndpointResponse.STATUS_TOO_MANY_REQUESTS, "another one is being made");
            }
            try {
                return new WebEndpointResponse<>(dumped());
            } finally {
                dumping.unlock();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return refused(WebEndpointResponse.STATUS_INTERNAL_SERVER_ERROR, "the thread was interrupted");
        } catch (IOException | UnsatisfiedLinkError e) {
            return refused(WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE, e.getMessage());
        }
    }

    /** Whether a servlet's request asks for no body, for which no dump is made. */
    private static boolean isHead() {
        RequestAttributes attributes = RequestContextHolder.getRequestAttributes();
        Object request = attributes == null ? null : attributes.resolveReference(RequestAttributes.REFERENCE_REQUEST);
        // Its type is another one in Spring Boot 2 and 3.
        return request != null && "HEAD".equals(new BeanWrapperImpl(request).getPropertyValue("method"));
    }

    /** A dump in a folder that nobody else may enter, so that nobody takes its name first, or replaces it. */
    private Resource dumped() throws IOException {
        Path folder = Files.createTempDirectory("hprof-rs");
        Path file = folder.resolve("heap.hprof");
        try {
            hprofrs.HeapDumper.dump(file, options);
            return new OpenDump(file);
        } finally {
            Files.deleteIfExists(file);
            Files.delete(folder);
        }
    }

    private static WebEndpointResponse<Resource> refused(int status, String reason) {
        String message = "no heap dump: " + reason;
        LOG.warn(message);
        Resource body = new ByteArrayResource((message + "\n").getBytes(StandardCharsets.UTF_8));
        return new WebEndpointResponse<>(body, status, MimeTypeUtils.TEXT_PLAIN);
    }
}
