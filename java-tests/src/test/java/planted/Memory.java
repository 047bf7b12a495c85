package planted;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Memory that small objects hold outside of the heap. */
final class Memory {
    private Memory() {}

    /** The application's own. */
    static final class Frames {
        final List<ByteBuffer> buffers = new ArrayList<>();
    }

    @Leak(first = {"holder: static planted.Memory$DirectBuffers FRAMES",
            "size: bytes 67108864 (?i)direct|off.?heap|outside|native"},
            screen = {"objects: says \\b6[4-6]\\b[^\\n]{0,60}Direct"})
    public static final class DirectBuffers {
        static final Frames FRAMES = new Frames();

        public static void main(String[] args) {
            Service.fill(64, i -> FRAMES.buffers.add(ByteBuffer.allocateDirect(1 << 20)));
        }
    }

    /** A part of a file, with its name. */
    static final class Segment {
        final MappedByteBuffer buffer;

        Segment(MappedByteBuffer buffer) {
            this.buffer = buffer;
        }
    }

    @Leak(first = {"holder: static planted.Memory$MappedFiles SEGMENTS",
            "size: bytes 134217728 (?i)mapped|off.?heap|outside|native"},
            screen = {"objects: count 128 planted.Memory$Segment"})
    public static final class MappedFiles {
        static final List<Segment> SEGMENTS = new ArrayList<>();

        public static void main(String[] args) throws IOException {
            Service.start();
            Path path = Files.createTempFile("segment", ".dat");
            try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
                file.setLength(1 << 20);
                for (int i = 0; i < 128; i++) {
                    SEGMENTS.add(new Segment(file.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, 1 << 20)));
                }
            }
            Files.delete(path);
            Service.ready();
        }
    }
}
