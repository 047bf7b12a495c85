package harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Binary dumps that came one after the other, taken apart: each begins with the header of a file. */
public final class DumpStream {
    private static final byte[] FORMAT = "JAVA PROFILE 1.0.2\0".getBytes(StandardCharsets.US_ASCII);
    private static final int HEADER_BYTES = FORMAT.length + 4 + 8;

    /** One of them. */
    public static final class Part {
        /** The tags of its records. */
        public final Set<Integer> tags = new TreeSet<>();
        /** A file with it alone. */
        public final Path file;

        Part(Path file) {
            this.file = file;
        }
    }

    public final List<Part> parts = new ArrayList<>();

    /** Each part becomes a file in this folder. */
    public DumpStream(byte[] bytes, Path folder) {
        ByteBuffer all = ByteBuffer.wrap(bytes);
        while (all.hasRemaining()) {
            int start = all.position();
            if (!isHeader(bytes, start)) {
                throw new AssertionError("no header at byte " + start + " of " + bytes.length);
            }
            Part part = new Part(folder.resolve("part" + parts.size() + ".hprof"));
            all.position(start + HEADER_BYTES);
            while (all.hasRemaining() && !isHeader(bytes, all.position())) {
                part.tags.add(all.get() & 0xFF);
                all.getInt();
                long length = all.getInt() & 0xFFFFFFFFL;
                all.position(Math.toIntExact(all.position() + length));
            }
            try {
                Files.write(part.file, Arrays.copyOfRange(bytes, start, all.position()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            parts.add(part);
        }
    }

    private static boolean isHeader(byte[] bytes, int at) {
        return at + FORMAT.length <= bytes.length
                && Arrays.equals(bytes, at, at + FORMAT.length, FORMAT, 0, FORMAT.length);
    }
}
