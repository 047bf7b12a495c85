package harness;

import java.util.regex.Pattern;

/** What the end line of a dump says about how it was made. */
public final class Engine {
    private static final Pattern SNAPSHOT =
            Pattern.compile("engine snapshot( of an image of \\d+ MB \\(\\d+ MB copied (in|after) the pause\\))?$");

    private Engine() {}

    /** Whether a copy of the heap was made, by a fork or by an image, and nothing is missing. */
    public static boolean isSnapshot(String line) {
        return SNAPSHOT.matcher(line).find();
    }

    /** What the end line says behind `engine hotspot` of a dump that lacks nothing else. */
    public static final String HOTSPOTS = "; HotSpot's own file, with the agent's own objects";

    /** Whether HotSpot made the dump because its collector was moving objects whenever the heap was copied, as it may. */
    public static boolean wasMoving(String line) {
        return line.contains("as the collector was moving objects all the time");
    }
}
