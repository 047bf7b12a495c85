package same;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import subject.Say;

/** A program whose heap has something of everything, and which then does nothing until it is spoken to. Runs on Java 8. */
public class Quiet {
    static final List<Object> KEPT = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        KEPT.add(ManyFields.all());
        KEPT.add(ManyArrays.all());
        KEPT.add(ManyTexts.all());
        KEPT.add(ManyClasses.all());
        KEPT.add(ManyReferences.all());
        KEPT.add(ManyThreads.all());
        collections();
        ManyReferences.collect();
        collections();
        for (String word = Say.ready(); word.equals("collections"); word = Say.hear()) {
            collections();
        }
        // Else the threads that stand for ever would hold up the end.
        System.exit(0);
    }

    /** Prints how many collections there were so far. */
    static void collections() {
        long count = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            count += collector.getCollectionCount();
        }
        Say.line("COLLECTIONS", count);
    }
}
