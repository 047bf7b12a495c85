package harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/** What a class of a dump refers to beside its superclass, loader and static fields: its signers and its protection domain. */
public final class ClassSlots {
    /** Places in a CLASS DUMP with ids of eight bytes, after the tag. */
    private static final int SIGNERS = 8 + 4 + 8 + 8;
    private static final int PROTECTION_DOMAIN = SIGNERS + 8;
    private static final int FIXED_BYTES = PROTECTION_DOMAIN + 8 + 8 + 8 + 4;

    private final ByteBuffer bytes;
    private int emptied;

    private ClassSlots(byte[] bytes) {
        this.bytes = ByteBuffer.wrap(bytes);
    }

    /** Copies a dump, uncompressed and with ids of eight bytes, but for these references; gives their number. */
    public static int leaveOut(Path dump, Path copy) {
        try {
            byte[] bytes = Files.readAllBytes(dump);
            ClassSlots slots = new ClassSlots(bytes);
            slots.records();
            Files.write(copy, bytes);
            return slots.emptied;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void records() {
        while (bytes.get() != 0) {}                      // the name of the format
        skip(4 + 8);                                     // the size of ids, the time
        while (bytes.hasRemaining()) {
            int tag = bytes.get();
            skip(4);                                     // the time
            int end = bytes.getInt();
            end += bytes.position();
            boolean isHeap = tag == 0x0c || tag == 0x1c;
            while (isHeap && bytes.position() < end) {
                heapRecord(bytes.get() & 0xff);
            }
            bytes.position(end);
        }
    }

    private void heapRecord(int tag) {
        switch (tag) {
            case 0x20: classDump(); break;
            case 0x21: skip(8 + 4 + 8); skip(bytes.getInt()); break;
            case 0x22: skip(8 + 4); skip(8 + 8 * bytes.getInt()); break;
            case 0x23: {
                skip(8 + 4);
                int length = bytes.getInt();
                skip(length * size(bytes.get()));
                break;
            }
            case 0xff: case 0x05: case 0x07: skip(8); break;          // unknown, sticky class, monitor
            case 0x04: case 0x06: skip(8 + 4); break;                 // native stack, thread block
            case 0x01: case 0x02: case 0x03: case 0x08: skip(8 + 8); break;
            default: throw new IllegalStateException("record 0x" + Integer.toHexString(tag) + " before " + bytes.position());
        }
    }

    private void classDump() {
        empty(bytes.position() + SIGNERS);
        empty(bytes.position() + PROTECTION_DOMAIN);
        skip(FIXED_BYTES);
        for (int count = bytes.getShort() & 0xffff; count > 0; count--) {
            skip(2);
            skip(size(bytes.get()));
        }
        for (int count = bytes.getShort() & 0xffff; count > 0; count--) {
            skip(8);
            skip(size(bytes.get()));
        }
        int fields = bytes.getShort() & 0xffff;
        skip(fields * (8 + 1));
    }

    private void empty(int place) {
        if (bytes.getLong(place) != 0) {
            bytes.putLong(place, 0);
            emptied++;
        }
    }

    private void skip(int count) {
        bytes.position(bytes.position() + count);
    }

    /** The size of a value of this type. */
    private static int size(byte type) {
        switch (type) {
            case 4: case 8: return 1;
            case 5: case 9: return 2;
            case 6: case 10: return 4;
            case 2: case 7: case 11: return 8;
            default: throw new IllegalStateException("type " + type);
        }
    }
}
