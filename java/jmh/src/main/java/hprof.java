import hprofrs.jmh.HprofProfiler;
import org.openjdk.jmh.profile.ProfilerException;

/** {@link HprofProfiler} as {@code -prof hprof}: JMH knows a profiler that is not its own by the name of its class alone. */
public final class hprof extends HprofProfiler {
    /** For JMH's list of profilers. */
    public hprof() throws ProfilerException {
        super("");
    }

    /** For JMH: with what follows the name. */
    public hprof(String options) throws ProfilerException {
        super(options);
    }
}
