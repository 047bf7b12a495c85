package same;

import java.util.Objects;

/** A root of a dump: why an object lives, and where in which thread if that is why. */
final class HprofRoot {
    /** The kinds of roots, with their codes and with what follows the object. */
    enum Kind {
        UNKNOWN(0xff, 0),
        JNI_GLOBAL(0x01, 8),
        JNI_LOCAL(0x02, 8),
        JAVA_FRAME(0x03, 8),
        NATIVE_STACK(0x04, 4),
        STICKY_CLASS(0x05, 0),
        THREAD_BLOCK(0x06, 4),
        MONITOR_USED(0x07, 0),
        THREAD_OBJ(0x08, 8);

        final int code;
        final int more;

        Kind(int code, int more) {
            this.code = code;
            this.more = more;
        }

        /** The kind of a record, or null if the record is no root. */
        static Kind of(int code) {
            for (Kind kind : values()) {
                if (kind.code == code) {
                    return kind;
                }
            }
            return null;
        }

        boolean hasFrame() {
            return this == JNI_LOCAL || this == JAVA_FRAME;
        }

        boolean hasThread() {
            return hasFrame() || this == NATIVE_STACK || this == THREAD_BLOCK || this == THREAD_OBJ;
        }
    }

    final Kind kind;
    final long object;
    /** The thread's object, or 0. */
    final long thread;
    /** The frame's number in its stack; -1 if there is none. */
    final int frame;

    HprofRoot(Kind kind, long object, long thread, int frame) {
        this.kind = kind;
        this.object = object;
        this.thread = thread;
        this.frame = frame;
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof HprofRoot)) {
            return false;
        }
        HprofRoot root = (HprofRoot) other;
        return kind == root.kind && object == root.object && thread == root.thread && frame == root.frame;
    }

    @Override
    public int hashCode() {
        return Objects.hash(kind, object, thread, frame);
    }
}
