package hprofrs.spring;

import hprofrs.DumpOptions.Redaction;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.management.HeapDumpWebEndpointAutoConfiguration;
import org.springframework.boot.actuate.management.HeapDumpWebEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Puts {@link HprofHeapDumpEndpoint} in the place of Spring Boot's own endpoint, under the same URL and the same rules of
 * exposure.
 *
 * <ul>
 *   <li>{@code hprofrs.heapdump.redact}: {@code all} by default, or {@code none}, {@code strings}, {@code arrays},
 *       {@code values}.
 *   <li>{@code hprofrs.heapdump.stop}: {@code false} by default. {@code true}: where the heap cannot be copied, stop the
 *       application for as long as HotSpot's own dump does. Such a dump cannot be redacted.
 * </ul>
 */
@AutoConfiguration(before = HeapDumpWebEndpointAutoConfiguration.class)
@ConditionalOnAvailableEndpoint(endpoint = HeapDumpWebEndpoint.class)
public class HeapDumpAutoConfiguration {
    /** The endpoint, unless the application has its own. */
    @Bean
    @ConditionalOnMissingBean
    public HeapDumpWebEndpoint heapDumpWebEndpoint(
            @Value("${hprofrs.heapdump.redact:all}") Redaction redact,
            @Value("${hprofrs.heapdump.stop:false}") boolean stop) {
        return new HprofHeapDumpEndpoint(redact, stop);
    }
}
