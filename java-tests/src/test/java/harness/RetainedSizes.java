package harness;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** The retained bytes of all objects of a dump that a root leads to, by their ids, as one tool or another computes them. */
public final class RetainedSizes {
    private RetainedSizes() {}

    /** As `hprof histo --objects` with more options. */
    public static Map<Long, Long> ours(Path dump, String... options) {
        Object[] words = new Object[options.length + 7];
        System.arraycopy(new Object[] {Tools.command(), "histo", "--objects", dump, "--json", "--top", "0"}, 0, words, 0, 7);
        System.arraycopy(options, 0, words, 7, options.length);
        JsonObject answer = JsonParser.parseString(Command.run(words).good().out).getAsJsonObject();
        Map<Long, Long> sizes = new HashMap<>();
        for (JsonElement element : answer.getAsJsonArray("objects")) {
            JsonObject object = element.getAsJsonObject();
            sizes.put(Long.decode(object.get("id").getAsString()), object.get("retained").getAsLong());
        }
        return sizes;
    }

    /** As the library hprof-analyzer: see tools/hprof-analyzer/. */
    public static Map<Long, Long> ofHprofAnalyzer(Path dump) {
        Map<Long, Long> sizes = new HashMap<>();
        Command.run(Tools.analyzer(), dump).good().out.lines().map(line -> line.split(" "))
                .forEach(words -> sizes.put(Long.decode(words[0]), Long.valueOf(words[1])));
        return sizes;
    }
}
