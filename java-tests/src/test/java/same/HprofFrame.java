package same;

import java.util.Objects;

/** A frame of a stack. Its class goes by the id: names of classes are compared with the classes. */
final class HprofFrame {
    final long classId;
    /** Method, signature and line. */
    final String place;

    HprofFrame(long classId, String place) {
        this.classId = classId;
        this.place = place;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof HprofFrame && classId == ((HprofFrame) other).classId
                && place.equals(((HprofFrame) other).place);
    }

    @Override
    public int hashCode() {
        return Objects.hash(classId, place);
    }
}
