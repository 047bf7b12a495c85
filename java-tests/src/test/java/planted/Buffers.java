package planted;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;

/** Netty's buffers that nobody releases. */
final class Buffers {
    private Buffers() {}

    /** What came from a client, and waits to be answered. */
    static final class Packet {
        final ByteBuf bytes;

        Packet(ByteBuf bytes) {
            this.bytes = bytes;
        }
    }

    /** They share chunks of four megabytes. */
    @Leak(jars = {"netty-buffer", "netty-common"},
            first = {"holder: static planted.Buffers$Pooled PACKETS", "size: bytes 41943040 (?i)direct|off.?heap|outside|native"},
            screen = {"objects: count 320 planted.Buffers$Packet", "pool: says Pooled|PoolChunk|PoolArena"})
    public static final class Pooled {
        static final List<Packet> PACKETS = new ArrayList<>();

        public static void main(String[] args) {
            Service.start();
            PooledByteBufAllocator pool = new PooledByteBufAllocator(true, 1, 1, 8_192, 9);
            for (int i = 0; i < 320; i++) {
                PACKETS.add(new Packet(pool.directBuffer(1 << 17)));
            }
            Service.ready();
        }
    }

    @Leak(jars = {"netty-buffer", "netty-common"},
            first = {"holder: static planted.Buffers$Unpooled PACKETS", "size: bytes 50331648 (?i)direct|off.?heap|outside|native"},
            screen = {"objects: count 384 planted.Buffers$Packet"})
    public static final class Unpooled {
        static final List<Packet> PACKETS = new ArrayList<>();

        public static void main(String[] args) {
            Service.fill(384, i -> PACKETS.add(new Packet(UnpooledByteBufAllocator.DEFAULT.directBuffer(1 << 17))));
        }
    }
}
