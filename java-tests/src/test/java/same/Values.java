package same;

/** Compares single values: those of fields and of arrays' elements. */
final class Values {
    private final HprofFile ours;
    private final HprofFile theirs;
    private final Findings findings;

    Values(HprofFile ours, HprofFile theirs, Findings findings) {
        this.ours = ours;
        this.theirs = theirs;
        this.findings = findings;
    }

    /** These bits agree, or a rule allows their difference. */
    boolean agree(HprofType type, long our, long their) {
        if (our == their) {
            return true;
        }
        Rule rule = rule(type, our, their);
        if (rule != null) {
            findings.allow(rule, rule == Rule.DORMANT ? ours.typeOf(our) : type.name().toLowerCase());
        }
        return rule != null;
    }

    private Rule rule(HprofType type, long our, long their) {
        if (type.isNan(our) && type.isCanonicalNan(their)) {
            return Rule.CANONICAL_NAN;
        }
        if (type == HprofType.OBJECT && our == 0 && !theirs.has(their)) {
            return Rule.RECORDLESS;
        }
        return type == HprofType.OBJECT && their == 0 && !theirs.has(our) ? Rule.DORMANT : null;
    }

    /** Both values, for a message. */
    String text(HprofType type, long our, long their) {
        return "ours " + text(ours, type, our) + ", HotSpot's " + text(theirs, type, their);
    }

    private static String text(HprofFile file, HprofType type, long bits) {
        return type == HprofType.OBJECT ? file.text(bits) : type.text(bits);
    }
}
