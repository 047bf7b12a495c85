package same;

import java.util.Objects;

/** Which field: of one name there may be several in an instance, each of another class. */
final class FieldKey {
    /** The id of the class that declares it. */
    final long declaring;
    final String name;
    final HprofType type;

    FieldKey(long declaring, String name, HprofType type) {
        this.declaring = declaring;
        this.name = name;
        this.type = type;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof FieldKey && declaring == ((FieldKey) other).declaring
                && name.equals(((FieldKey) other).name) && type == ((FieldKey) other).type;
    }

    @Override
    public int hashCode() {
        return Objects.hash(declaring, name, type);
    }
}
