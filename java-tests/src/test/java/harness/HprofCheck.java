package harness;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Path;

/** Our own `hprof` command as a judge: it knows rules no foreign reader checks. */
public final class HprofCheck implements Judge {
    private final Path dump;

    public HprofCheck(Path dump) {
        this.dump = dump;
    }

    /** The file must be without fault, but for habits of HotSpot's own dumper if that has written it for the agent. */
    public HprofCheck good() {
        Command strict = Command.run(Tools.command(), "check", "--strict", dump);
        String told = strict.exit == 0 ? "" : Command.run(Tools.command(), "check", "--json", dump).out;
        if (told.contains("\"writer\": \"HotSpot\"") && told.contains("\"engine\": \"hotspot\"")) {
            Command.run(Tools.command(), "check", dump).good();
        } else {
            strict.good();
        }
        return this;
    }

    @Override
    public String name() {
        return "hprof histo";
    }

    @Override
    public Histogram histogram() {
        Histogram histogram = new Histogram();
        JsonElement json = JsonParser.parseString(Command.run(Tools.command(), "histo", dump, "--json").good().out);
        JsonElement rows = json.isJsonArray() ? json : json.getAsJsonObject().get("classes");
        for (JsonElement row : rows.getAsJsonArray()) {
            JsonObject type = row.getAsJsonObject();
            histogram.add(type.get("class").getAsString(), type.get("objects").getAsLong());
        }
        return histogram;
    }
}
