package same;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/** What a collector puts where no object is yet or any more, so that the heap has no holes. */
final class Fillers {
    /** Before Java 18 fillers were arrays of int and, in the smallest gaps, plain objects. */
    static final Set<String> TYPES = new HashSet<>(Arrays.asList("int[]", "java.lang.Object",
            "[Ljdk.internal.vm.FillerElement;", "jdk.internal.vm.FillerObject", "jdk.internal.vm.FillerArray"));

    private final HprofFile file;
    private Reachability reachability;

    Fillers(HprofFile file) {
        this.file = file;
    }

    /** The object is one; nothing leads to it. */
    boolean has(long id) {
        if (!TYPES.contains(file.typeOf(id))) {
            return false;
        }
        if (reachability == null) {
            reachability = new Reachability(file);
        }
        return !reachability.reaches(id);
    }
}
