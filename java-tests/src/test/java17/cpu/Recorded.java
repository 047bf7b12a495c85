package cpu;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;
import subject.Say;

/** The work of {@link Mix} under the JDK's own sampling, which names the method it has seen most. */
public class Recorded {
    public static void main(String[] args) throws IOException {
        Path file = Files.createTempFile(Path.of("."), "mix", ".jfr");
        try (Recording recording = new Recording()) {
            recording.enable("jdk.ExecutionSample").withPeriod(Duration.ofMillis(10));
            recording.start();
            Mix.work(Integer.parseInt(args[0]));
            recording.stop();
            recording.dump(file);
        }
        Map<String, Integer> seen = new HashMap<>();
        for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
            if (event.getStackTrace() != null && !event.getStackTrace().getFrames().isEmpty()) {
                seen.merge(top(event.getStackTrace().getFrames()), 1, Integer::sum);
            }
        }
        for (Map.Entry<String, Integer> entry : seen.entrySet()) {
            Say.line("SEEN", entry.getKey(), entry.getValue());
        }
        Say.ready();
    }

    /** The method on top, or its caller if it is the one that is inlined everywhere. */
    private static String top(List<RecordedFrame> frames) {
        for (RecordedFrame frame : frames) {
            String name = frame.getMethod().getType().getName() + "." + frame.getMethod().getName();
            if (!name.equals("cpu.Mix.step")) {
                return name;
            }
        }
        return "none";
    }
}
