package same;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/** The bytes of a dump, plain or compressed, read from front to back. */
final class HprofInput implements Closeable {
    private static final int BUFFER = 1 << 16;

    private final DataInputStream in;
    private long position;

    HprofInput(Path file) throws IOException {
        BufferedInputStream plain = new BufferedInputStream(Files.newInputStream(file), BUFFER);
        in = new DataInputStream(isGzip(plain) ? new BufferedInputStream(new GZIPInputStream(plain, BUFFER), BUFFER) : plain);
    }

    private static boolean isGzip(InputStream stream) throws IOException {
        stream.mark(2);
        boolean gzip = stream.read() == 0x1f && stream.read() == 0x8b;
        stream.reset();
        return gzip;
    }

    /** How many bytes have been read, counted as they are when not compressed. */
    long position() {
        return position;
    }

    /** A byte, or -1 at the end of the file. */
    int u1OrEnd() throws IOException {
        int value = in.read();
        position++;
        return value;
    }

    int u1() throws IOException {
        position++;
        return in.readUnsignedByte();
    }

    int u2() throws IOException {
        position += 2;
        return in.readUnsignedShort();
    }

    int i4() throws IOException {
        position += 4;
        return in.readInt();
    }

    long u4() throws IOException {
        return i4() & 0xffffffffL;
    }

    long id() throws IOException {
        position += 8;
        return in.readLong();
    }

    byte[] bytes(long count) throws IOException {
        byte[] bytes = new byte[Math.toIntExact(count)];
        in.readFully(bytes);
        position += count;
        return bytes;
    }

    /** A value of a type, as bits. */
    long value(HprofType type) throws IOException {
        return type.read(bytes(type.size), 0);
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
