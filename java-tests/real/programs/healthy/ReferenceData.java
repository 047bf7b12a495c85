// uses     -
// java     21
// largest  Town\b|TOWNS\b
package healthy;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

/** Towns by their codes, read once when the program starts. */
public final class ReferenceData {
    static final Map<String, Town> TOWNS;

    static final class Town {
        final String name;
        final double latitude;

        Town(String name, double latitude) {
            this.name = name;
            this.latitude = latitude;
        }
    }

    static {
        Map<String, Town> towns = new HashMap<>();
        for (int i = 0; i < 100_000; i++) {
            towns.put(Integer.toString(i, 36), new Town("town " + i, i / 1000.0));
        }
        TOWNS = Collections.unmodifiableMap(towns);
    }

    public static void main(String[] args) {}
}
