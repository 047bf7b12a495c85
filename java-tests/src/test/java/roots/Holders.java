package roots;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import subject.Say;

/**
 * A program whose threads hold tokens in all places, one chain each, and stand still with them (`still`), or run (`running`).
 * `warm`: what they run is compiled before. It writes HotSpot's own dump to the file of a word, and to another one at first.
 */
public class Holders {
    public static void main(String[] args) throws Throwable {
        List<String> words = Arrays.asList(args);
        Stop.prepare();
        Places places = new Places();
        boolean isStill = words.contains("still");
        if (isStill) {
            Waiting.addTo(places);
            Constructs.addTo(places);
            Machinery.addTo(places);
            Continuations.addTo(places);
            for (String word : words) {
                if (word.endsWith(".so")) {
                    InNative.addTo(places, word);
                }
            }
        } else {
            Running.addTo(places);
        }
        more(places, words);
        if (words.contains("warm")) {
            places.warmUp();
            if (!isStill) {
                Running.warmUp();
            }
        }
        HotSpotDiagnosticMXBean hotspot = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        // The first time it makes objects of its own.
        hotspot.dumpHeap(words.get(1), true);
        Stop.withMonitor(() -> {
            places.start();
            places.names().forEach(name -> Say.line("PLACE", name));
            for (String word = Say.ready(); !word.equals("exit"); word = Say.hear()) {
                dump(hotspot, word);
            }
        });
        Runtime.getRuntime().halt(0);
    }

    /** Places of a later Java, in classes that the bench names. */
    private static void more(Places places, List<String> words) throws ReflectiveOperationException {
        for (String word : words) {
            if (word.startsWith("roots.")) {
                Class.forName(word).getDeclaredMethod("addTo", Places.class).invoke(null, places);
            }
        }
    }

    private static void dump(HotSpotDiagnosticMXBean hotspot, String file) {
        try {
            hotspot.dumpHeap(file, true);
        } catch (java.io.IOException e) {
            throw new IllegalStateException(e);
        }
        Say.line("WRITTEN");
    }
}
