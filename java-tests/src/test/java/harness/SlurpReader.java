package harness;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The hprof-slurp program as a judge: it counts. */
public final class SlurpReader implements Judge {
    private static final int ALL = 1_000_000;

    private final Histogram histogram = new Histogram();

    public SlurpReader(Path dump) {
        try {
            Path json = Files.createTempFile("slurp", ".json");
            try {
                Command.run(Tools.slurp(), dump, "--json", "--output", json, "--top", ALL).good();
                JsonObject heap = JsonParser.parseString(Files.readString(json)).getAsJsonObject().getAsJsonObject("heap");
                for (JsonElement row : heap.getAsJsonArray("top_allocated_classes")) {
                    JsonObject type = row.getAsJsonObject();
                    histogram.add(type.get("class_name").getAsString(), type.get("instance_count").getAsLong());
                }
            } finally {
                Files.delete(json);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String name() {
        return "hprof-slurp";
    }

    @Override
    public Histogram histogram() {
        return histogram;
    }
}
