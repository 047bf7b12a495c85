package same;

import java.util.Objects;

/** A field of a class: what it is called and its type; if static, also the bits of its value. */
final class HprofField {
    final String name;
    final HprofType type;
    final long bits;

    HprofField(String name, HprofType type, long bits) {
        this.name = name;
        this.type = type;
        this.bits = bits;
    }

    /** The class file has it; the names of all others are in angle brackets. */
    boolean isDeclared() {
        return !name.startsWith("<") && !isInitLock();
    }

    /** What threads lock while the class is initialised; older JVMs leave out the brackets of this one. */
    boolean isInitLock() {
        return name.equals("<init_lock>") || name.equals("init_lock");
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof HprofField && name.equals(((HprofField) other).name)
                && type == ((HprofField) other).type && bits == ((HprofField) other).bits;
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, type, bits);
    }

    @Override
    public String toString() {
        return type.name().toLowerCase() + " " + name;
    }
}
