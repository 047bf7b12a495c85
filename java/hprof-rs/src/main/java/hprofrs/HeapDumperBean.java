package hprofrs;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;

/** What {@link HeapDumper#register} registers. */
final class HeapDumperBean implements HeapDumperMXBean {
    @Override
    public void dumpHeap(String file, boolean live) throws IOException {
        if (!live) {
            throw new UnsupportedOperationException(
                    "only reachable objects can be dumped: pass true for live, or ask HotSpotDiagnosticMXBean");
        }
        HeapDumper.dump(named(file));
    }

    @Override
    public String dump(String file, String options) throws IOException {
        DumpOptions parsed = DumpOptions.none();
        for (String option : options.split(",")) {
            int equals = option.indexOf('=');
            if (equals >= 0) {
                parsed = parsed.with(option.substring(0, equals), option.substring(equals + 1));
            } else if (!option.isEmpty()) {
                throw new IllegalArgumentException("an option has a name and a value: " + option);
            }
        }
        return HeapDumper.dump(named(file), parsed);
    }

    /** Who asks by JMX chooses the name: it must not be that of a file which somebody runs or reads as something else. */
    private static Path named(String file) {
        if (!file.endsWith(".hprof") && !file.endsWith(".hprof.gz")) {
            throw new IllegalArgumentException("the name of a dump must end in .hprof or .hprof.gz: " + file);
        }
        return Paths.get(file);
    }

    @Override
    public List<ClassCount> histogram() throws IOException {
        return HeapDumper.histogram();
    }

    @Override
    public String leaks() throws IOException {
        return HeapDumper.leaks();
    }
}
