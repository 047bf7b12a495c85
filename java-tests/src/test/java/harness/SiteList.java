package harness;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Allocation sites as the `hprof sites` command reads them. */
public final class SiteList {
    /** A class and a stack, the top first; frames as in Java's own traces. */
    public static final class Site {
        public final String className;
        public final long liveBytes;
        public final long liveObjects;
        public final long allocatedObjects;
        public final List<String> frames = new ArrayList<>();

        Site(JsonObject site) {
            className = site.get("class").getAsString();
            liveBytes = number(site, "live", "bytes");
            liveObjects = number(site, "live", "objects");
            allocatedObjects = number(site, "allocated", "objects");
            for (JsonElement element : site.getAsJsonArray("frames")) {
                JsonObject frame = element.getAsJsonObject();
                // Classes made at run time have none.
                JsonElement source = frame.get("source");
                frames.add(frame.get("class").getAsString() + "." + frame.get("method").getAsString()
                        + "(" + (source.isJsonNull() ? "unknown" : source.getAsString()) + ":" + frame.get("line") + ")");
            }
        }

        private static long number(JsonObject site, String part, String unit) {
            JsonElement found = site.get(part);
            return found == null || found.isJsonNull() ? 0 : found.getAsJsonObject().get(unit).getAsLong();
        }

        @Override
        public String toString() {
            return className + " live " + liveObjects + " (" + liveBytes + " bytes) of " + allocatedObjects + " " + frames;
        }
    }

    /** The largest by live bytes first. */
    public final List<Site> sites = new ArrayList<>();

    /** From the table of sites in a file, or from its objects' own traces: `sites` or `dump`. */
    public SiteList(Path file, String from) {
        String json = Command.run(Tools.command(), "sites", file, "--json", "--from", from).good().out;
        JsonArray rows = JsonParser.parseString(json).getAsJsonObject().getAsJsonArray("sites");
        rows.forEach(row -> sites.add(new Site(row.getAsJsonObject())));
    }

    public long liveObjects(String className) {
        return sites.stream().filter(site -> site.className.equals(className)).mapToLong(site -> site.liveObjects).sum();
    }

    public long liveBytes(String className) {
        return sites.stream().filter(site -> site.className.equals(className)).mapToLong(site -> site.liveBytes).sum();
    }

    public long allocatedObjects(String className) {
        return sites.stream().filter(site -> site.className.equals(className)).mapToLong(site -> site.allocatedObjects).sum();
    }
}
