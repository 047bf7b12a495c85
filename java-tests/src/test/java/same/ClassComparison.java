package same;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Compares the records of the classes that both dumps have. */
final class ClassComparison {
    private final HprofFile ours;
    private final HprofFile theirs;
    private final Values values;
    private final UntoldFields untold;
    private final StaticComparison statics;
    private final Findings findings;

    ClassComparison(HprofFile ours, HprofFile theirs, Values values, Findings findings) {
        this.ours = ours;
        this.theirs = theirs;
        this.values = values;
        this.findings = findings;
        untold = new UntoldFields(ours, theirs);
        statics = new StaticComparison(ours, theirs, values, findings);
    }

    void compare() {
        for (long id : new TreeSet<>(ours.classes.keySet())) {
            if (theirs.classes.containsKey(id)) {
                compare(ours.classes.get(id), theirs.classes.get(id));
            } else if (theirs.objects.containsKey(id)) {
                findings.differ("class that is an object in HotSpot's", ours.text(id));
            }
        }
    }

    private void compare(HprofClass our, HprofClass their) {
        name(our.id);
        reference(our, "super class", our.superId, their.superId);
        reference(our, "loader", our.loader, their.loader);
        reference(our, "signers", our.signers, their.signers);
        reference(our, "protection domain", our.protectionDomain, their.protectionDomain);
        Rule rule = untold.rule(our.id);
        if (rule != null) {
            findings.allow(rule, ours.name(our.id));
        }
        fields(our, their);
        if (untold.areOfUnlinked(our.id)) {
            statics.compareUnlinked(our, their);
        } else {
            statics.compare(our, their);
        }
    }

    private void name(long id) {
        String our = ours.name(id);
        String their = theirs.name(id);
        if (!our.equals(their)) {
            findings.differ("name of a class", ours.text(id) + ": ours " + our + ", HotSpot's " + their);
        }
    }

    private void reference(HprofClass our, String what, long ourId, long theirId) {
        if (!values.agree(HprofType.OBJECT, ourId, theirId)) {
            findings.differ(what + " of a class", ours.text(our.id) + ": " + values.text(HprofType.OBJECT, ourId, theirId));
        }
    }

    private void fields(HprofClass our, HprofClass their) {
        int untoldBytes = untold.bytes(our.id);
        if (our.instanceSize + untoldBytes != their.instanceSize) {
            findings.differ("instance size", ours.text(our.id) + ": ours " + our.instanceSize + " and " + untoldBytes
                    + " not reported, HotSpot's " + their.instanceSize);
        }
        List<HprofField> all = new ArrayList<>(our.fields);
        all.addAll(untold.of(our.id));
        Set<HprofField> ourFields = new HashSet<>(all);
        Set<HprofField> theirFields = new HashSet<>(their.fields);
        if (!ourFields.equals(theirFields) || all.size() != their.fields.size()) {
            findings.differ("fields of a class", ours.text(our.id) + ": ours " + our.fields + ", HotSpot's " + their.fields);
        }
    }
}
