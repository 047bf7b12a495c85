package same;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** Compares the contents of the objects that both dumps have. */
final class ObjectComparison {
    private final HprofFile ours;
    private final HprofFile theirs;
    private final Values values;
    private final Findings findings;
    private final Fillers fillers;
    private final Map<Long, FieldPairs> pairs = new HashMap<>();

    ObjectComparison(HprofFile ours, HprofFile theirs, Values values, Fillers fillers, Findings findings) {
        this.ours = ours;
        this.theirs = theirs;
        this.values = values;
        this.fillers = fillers;
        this.findings = findings;
    }

    void compare() {
        // In the order of addresses, so that two runs print the same.
        for (long id : ours.objects.keySet().stream().mapToLong(Long::longValue).sorted().toArray()) {
            HprofObject our = ours.objects.get(id);
            HprofObject their = theirs.objects.get(id);
            if (their != null) {
                compare(our, their);
            } else if (theirs.classes.containsKey(id)) {
                findings.differ("object that is a class in HotSpot's", ours.text(id));
            }
        }
    }

    private void compare(HprofObject our, HprofObject their) {
        boolean sameShape = our.kind == their.kind && our.type == their.type && our.classId == their.classId;
        if (sameShape && our.kind == HprofObject.Kind.INSTANCE) {
            instances(our, their);
        } else if (sameShape && Arrays.equals(our.bytes, their.bytes)) {
            return;
        } else if (fillers.has(our.id)) {
            findings.allow(Rule.FILLER, ours.typeOf(our.id) + " in ours, " + theirs.typeOf(our.id) + " in HotSpot's");
        } else if (sameShape) {
            arrays(our, their);
        } else {
            findings.differ("class of an object", "ours " + shape(ours, our) + ", HotSpot's " + shape(theirs, their));
        }
    }

    private static String shape(HprofFile file, HprofObject object) {
        return file.text(object.id) + " (" + object.kind + " of @" + Long.toHexString(object.classId) + ")";
    }

    private void instances(HprofObject our, HprofObject their) {
        FieldPairs fields = pairs.computeIfAbsent(our.classId, id -> new FieldPairs(ours.layout(id), theirs.layout(id)));
        if (our.bytes.length != fields.ours || their.bytes.length != fields.theirs) {
            findings.differ("length of an instance", ours.text(our.id) + ": ours " + our.bytes.length + " bytes of " + fields.ours
                    + ", HotSpot's " + their.bytes.length + " of " + fields.theirs);
        } else if (!fields.inPlace || !Arrays.equals(our.bytes, their.bytes)) {
            fields.pairs.forEach(pair ->
                    field(our, pair, pair.field.type.read(our.bytes, pair.ours), pair.field.type.read(their.bytes, pair.theirs)));
        }
    }

    private void field(HprofObject object, FieldPairs.Pair pair, long our, long their) {
        if (!values.agree(pair.field.type, our, their)) {
            findings.differ("field", ours.text(object.id) + ", " + ours.name(pair.field.declaring) + "." + pair.field.name + ": "
                    + values.text(pair.field.type, our, their));
        }
    }

    private void arrays(HprofObject our, HprofObject their) {
        if (our.length() != their.length()) {
            findings.differ("length of an array",
                    ours.text(our.id) + ": ours " + our.length() + ", HotSpot's " + their.length());
            return;
        }
        for (int i = 0; i < our.length(); i++) {
            if (!values.agree(our.type, our.element(i), their.element(i))) {
                findings.differ("element of an array",
                        ours.text(our.id) + ", element " + i + ": " + values.text(our.type, our.element(i), their.element(i)));
            }
        }
    }
}
