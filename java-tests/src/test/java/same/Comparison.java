package same;

/** Compares our dump of a quiet JVM with HotSpot's own: the ids are the same, so all else must be. */
final class Comparison {
    /** Which dump was made first. */
    enum Order { OURS_FIRST, HOTSPOT_FIRST }

    private Comparison() {}

    static Findings of(HprofFile ours, HprofFile theirs, Order order) {
        Findings findings = new Findings();
        findings.note("ours: " + sizes(ours) + "; HotSpot's: " + sizes(theirs));
        Values values = new Values(ours, theirs, findings);
        new Presence(ours, theirs, order, findings).compare();
        new ClassComparison(ours, theirs, values, findings).compare();
        Fillers fillers = new Fillers(order == Order.OURS_FIRST ? ours : theirs);
        new ObjectComparison(ours, theirs, values, fillers, findings).compare();
        new RootComparison(ours, theirs, order, findings).compare();
        return findings;
    }

    private static String sizes(HprofFile file) {
        return file.objects.size() + " objects, " + file.classes.size() + " classes, " + file.roots.size() + " roots";
    }
}
