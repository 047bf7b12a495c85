package same;

import java.util.ArrayList;
import java.util.List;

/** A class of a dump: its CLASS_DUMP record. */
final class HprofClass {
    final long id;
    long superId;
    long loader;
    long signers;
    long protectionDomain;
    int instanceSize;
    final List<HprofField> statics = new ArrayList<>();
    final List<HprofField> fields = new ArrayList<>();

    HprofClass(long id) {
        this.id = id;
    }

    /** All objects it refers to, null ones too. */
    List<Long> references() {
        List<Long> references = new ArrayList<>();
        references.add(superId);
        references.add(loader);
        references.add(signers);
        references.add(protectionDomain);
        for (HprofField field : statics) {
            if (field.type == HprofType.OBJECT) {
                references.add(field.bits);
            }
        }
        return references;
    }
}
