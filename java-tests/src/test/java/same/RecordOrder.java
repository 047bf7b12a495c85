package same;

import java.nio.file.Path;
import java.util.Objects;

/** The order of the objects' records in a dump. */
public final class RecordOrder {
    private RecordOrder() {}

    /** How often the record of an object follows one of another class or type. */
    public static long changesOfClass(Path file) {
        long changes = 0;
        HprofObject last = null;
        for (HprofObject object : HprofFile.read(file).objects.values()) {
            if (last != null && (last.classId != object.classId || !Objects.equals(last.type, object.type))) {
                changes++;
            }
            last = object;
        }
        return changes;
    }
}
