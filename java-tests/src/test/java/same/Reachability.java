package same;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The objects and classes that a dump's roots lead to, over all references that the dump has. */
final class Reachability {
    private final HprofFile file;
    private final Map<Long, List<Long>> classesOfLoaders = new HashMap<>();
    private final Set<Long> reached = new HashSet<>();
    private final Deque<Long> open = new ArrayDeque<>();

    Reachability(HprofFile file) {
        this.file = file;
        for (HprofClass type : file.classes.values()) {
            // A hidden class may go before its loader does, so the loader is no reason for it.
            if (type.loader != 0 && !file.isHidden(type.id)) {
                classesOfLoaders.computeIfAbsent(type.loader, key -> new ArrayList<>()).add(type.id);
            }
        }
        file.roots.forEach(root -> reach(root.object));
        while (!open.isEmpty()) {
            follow(open.pop());
        }
    }

    boolean reaches(long id) {
        return reached.contains(id);
    }

    private void reach(long id) {
        if (id != 0 && reached.add(id)) {
            open.push(id);
        }
    }

    private void follow(long id) {
        classesOfLoaders.getOrDefault(id, new ArrayList<>()).forEach(this::reach);
        file.eachReference(id, this::reach);
    }
}
