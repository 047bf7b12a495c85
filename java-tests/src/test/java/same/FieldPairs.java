package same;

import java.util.ArrayList;
import java.util.List;

/** The fields of a class's instances that both dumps know; what only one knows is reported with the class. */
final class FieldPairs {
    /** A field, and where each dump has it. */
    static final class Pair {
        final FieldKey field;
        final int ours;
        final int theirs;

        private Pair(FieldKey field, int ours, int theirs) {
            this.field = field;
            this.ours = ours;
            this.theirs = theirs;
        }
    }

    final List<Pair> pairs = new ArrayList<>();
    /** How many bytes an instance takes in each dump. */
    final int ours;
    final int theirs;
    /** Both dumps have all fields, and at the same places. */
    final boolean inPlace;

    FieldPairs(InstanceLayout ours, InstanceLayout theirs) {
        this.ours = ours.size;
        this.theirs = theirs.size;
        ours.offsets.forEach((field, offset) -> {
            if (theirs.offsets.containsKey(field)) {
                pairs.add(new Pair(field, offset, theirs.offsets.get(field)));
            }
        });
        inPlace = ours.offsets.equals(theirs.offsets);
    }
}
