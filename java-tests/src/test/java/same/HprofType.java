package same;

/** The types of fields and of array elements, with their codes and sizes in a dump. */
enum HprofType {
    OBJECT(2, 8),
    BOOLEAN(4, 1),
    CHAR(5, 2),
    FLOAT(6, 4),
    DOUBLE(7, 8),
    BYTE(8, 1),
    SHORT(9, 2),
    INT(10, 4),
    LONG(11, 8);

    private static final int FLOAT_NAN = Float.floatToIntBits(Float.NaN);
    private static final long DOUBLE_NAN = Double.doubleToLongBits(Double.NaN);

    final int code;
    final int size;

    HprofType(int code, int size) {
        this.code = code;
        this.size = size;
    }

    static HprofType of(int code) {
        for (HprofType type : values()) {
            if (type.code == code) {
                return type;
            }
        }
        throw new IllegalStateException("no type has code " + code);
    }

    /** The bits of a value, big-endian in the bytes. */
    long read(byte[] bytes, int offset) {
        long bits = 0;
        for (int i = 0; i < size; i++) {
            bits = bits << 8 | bytes[offset + i] & 0xff;
        }
        return bits;
    }

    boolean isNan(long bits) {
        return this == FLOAT && Float.isNaN(Float.intBitsToFloat((int) bits))
                || this == DOUBLE && Double.isNaN(Double.longBitsToDouble(bits));
    }

    /** Not a number, in the one form that Java calls canonical. */
    boolean isCanonicalNan(long bits) {
        return this == FLOAT && (int) bits == FLOAT_NAN || this == DOUBLE && bits == DOUBLE_NAN;
    }

    /** A value for a message: numbers in decimal, and what has a hidden side also in hex. */
    String text(long bits) {
        switch (this) {
            case OBJECT: return bits == 0 ? "null" : "@" + Long.toHexString(bits);
            case BOOLEAN: return bits == 0 ? "false" : bits == 1 ? "true" : "boolean " + bits;
            case FLOAT: return Float.intBitsToFloat((int) bits) + " (0x" + Long.toHexString(bits) + ")";
            case DOUBLE: return Double.longBitsToDouble(bits) + " (0x" + Long.toHexString(bits) + ")";
            case BYTE: return "" + (byte) bits;
            case SHORT: return "" + (short) bits;
            case INT: return "" + (int) bits;
            default: return "" + bits;
        }
    }
}
