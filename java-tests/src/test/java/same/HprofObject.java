package same;

/** An object of a dump: an instance, an array of references or an array of primitives. */
final class HprofObject {
    /** What it is, named as in messages. */
    enum Kind { INSTANCE, OBJECT_ARRAY, PRIMITIVE_ARRAY }

    final Kind kind;
    final long id;
    /** The class, also of an array of references; 0 for an array of primitives. */
    final long classId;
    /** The elements' type; for an instance null. */
    final HprofType type;
    /** Field values or elements as the dump has them, ids too. */
    final byte[] bytes;

    private HprofObject(Kind kind, long id, long classId, HprofType type, byte[] bytes) {
        this.kind = kind;
        this.id = id;
        this.classId = classId;
        this.type = type;
        this.bytes = bytes;
    }

    static HprofObject instance(long id, long classId, byte[] values) {
        return new HprofObject(Kind.INSTANCE, id, classId, null, values);
    }

    static HprofObject array(long id, long classId, byte[] elements) {
        return new HprofObject(Kind.OBJECT_ARRAY, id, classId, HprofType.OBJECT, elements);
    }

    static HprofObject primitives(long id, HprofType type, byte[] elements) {
        return new HprofObject(Kind.PRIMITIVE_ARRAY, id, 0, type, elements);
    }

    /** The number of elements of an array. */
    int length() {
        return bytes.length / type.size;
    }

    /** The bits of an element of an array. */
    long element(int index) {
        return type.read(bytes, index * type.size);
    }
}
