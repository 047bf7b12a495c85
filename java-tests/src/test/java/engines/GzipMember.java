package engines;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/** One member of a gzip file, decompressed for itself. */
final class GzipMember {
    private static final int COMMENTED = 16;
    /** More than any block of a dump has. */
    private static final int MOST_BYTES = 1 << 24;

    final int start;
    final int end;
    final int flags;
    /** The header's comment; null if it has none. */
    final String comment;
    final byte[] bytes;

    private GzipMember(int start, int end, int flags, String comment, byte[] bytes) {
        this.start = start;
        this.end = end;
        this.flags = flags;
        this.comment = comment;
        this.bytes = bytes;
    }

    /** Reads the member that begins here; it must be whole, and its bytes those of its checksum and length. */
    static GzipMember at(int start, byte[] file) {
        ByteBuffer in = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        int flags = file[start + 3];
        must(in.getShort(start) == (short) 0x8b1f && file[start + 2] == 8, "no member of deflate", start);
        must(flags == 0 || flags == COMMENTED, "flags " + flags, start);
        int data = start + 10;
        String comment = null;
        if (flags == COMMENTED) {
            int length = 0;
            while (file[data + length] != 0) {
                length++;
            }
            comment = new String(file, data, length, StandardCharsets.ISO_8859_1);
            data += length + 1;
        }
        Inflater inflater = new Inflater(true);
        try {
            inflater.setInput(file, data, file.length - data);
            byte[] bytes = new byte[MOST_BYTES];
            int length = inflater.inflate(bytes);
            must(inflater.finished(), "more than " + length + " bytes", start);
            int trailer = file.length - inflater.getRemaining();
            CRC32 sum = new CRC32();
            sum.update(bytes, 0, length);
            must(in.getInt(trailer) == (int) sum.getValue(), "wrong checksum", start);
            must(in.getInt(trailer + 4) == length, "wrong length", start);
            return new GzipMember(start, trailer + 8, flags, comment, Arrays.copyOf(bytes, length));
        } catch (DataFormatException e) {
            throw new IllegalStateException("member at " + start, e);
        } finally {
            inflater.end();
        }
    }

    private static void must(boolean isSo, String fault, int start) {
        if (!isSo) {
            throw new IllegalStateException("member at " + start + ": " + fault);
        }
    }
}
