package harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/** The JDK's own profiler (JFR) as a judge of profiles. */
public final class FlightRecording {
    private static final String SAMPLE = "jdk.ExecutionSample";
    private static final String ENTER = "jdk.JavaMonitorEnter";

    /** Stacks of running threads, the innermost call first, as they were sampled. */
    public final List<List<String>> stacks = new ArrayList<>();
    /** Milliseconds that threads waited to enter monitors, by the class of the monitor. */
    public final Map<String, Double> waitedMillis = new HashMap<>();
    /** How often, by the class of the monitor. */
    public final Map<String, Long> waits = new HashMap<>();

    public FlightRecording(Path... files) {
        for (Path file : files) {
            try {
                RecordingFile.readAllEvents(file).forEach(this::add);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Settings for a recording of samples, as often as can be. */
    public static Path samples(Path folder) {
        return settings(folder.resolve("samples.jfc"), SAMPLE, "period", "1 ms");
    }

    /** Settings for a recording of each wait for a monitor, however short. */
    public static Path monitors(Path folder) {
        return settings(folder.resolve("monitors.jfc"), ENTER, "threshold", "0 ns");
    }

    private static Path settings(Path file, String event, String setting, String value) {
        try {
            return Files.write(file, List.of("<?xml version='1.0' encoding='UTF-8'?>",
                    "<configuration version='2.0'><event name='" + event + "'>",
                    "<setting name='enabled'>true</setting><setting name='stackTrace'>true</setting>",
                    "<setting name='" + setting + "'>" + value + "</setting></event></configuration>"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void add(RecordedEvent event) {
        String name = event.getEventType().getName();
        if (name.equals(ENTER)) {
            String className = event.getClass("monitorClass").getName();
            waitedMillis.merge(className, event.getDuration().toNanos() / 1e6, Double::sum);
            waits.merge(className, 1L, Long::sum);
        } else if (name.equals(SAMPLE) && event.getStackTrace() != null && !event.getStackTrace().getFrames().isEmpty()) {
            List<String> stack = new ArrayList<>();
            for (RecordedFrame frame : event.getStackTrace().getFrames()) {
                stack.add(frame.getMethod().getType().getName() + "." + frame.getMethod().getName());
            }
            stacks.add(stack);
        }
    }

    /** Samples by the method that ran. */
    public Map<String, Long> self() {
        Map<String, Long> self = new HashMap<>();
        stacks.forEach(stack -> self.merge(stack.get(0), 1L, Long::sum));
        return self;
    }

    /** Samples by the innermost method of these classes; those without such a method are left out. */
    public Map<String, Long> selfOf(String classes) {
        Map<String, Long> self = new HashMap<>();
        stacks.forEach(stack -> stack.stream().filter(method -> method.startsWith(classes)).findFirst()
                .ifPresent(method -> self.merge(method, 1L, Long::sum)));
        return self;
    }

    /** Samples by the methods in their stacks, each of which counts once. */
    public Map<String, Long> inclusive() {
        Map<String, Long> inclusive = new HashMap<>();
        stacks.forEach(stack -> Set.copyOf(stack).forEach(method -> inclusive.merge(method, 1L, Long::sum)));
        return inclusive;
    }
}
