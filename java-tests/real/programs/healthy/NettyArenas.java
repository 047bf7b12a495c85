// uses     io.netty:netty-buffer:4.1.118.Final
// java     17
// largest  (?i)PoolChunk|PoolArena|PooledByteBufAllocator|byte\[\]
package healthy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;

/** A pool of buffers after a busy hour: all are returned. */
public final class NettyArenas {
    static final PooledByteBufAllocator POOL = new PooledByteBufAllocator(false);

    public static void main(String[] args) {
        for (int i = 0; i < 20; i++) {
            List<ByteBuf> used = new ArrayList<>();
            for (int j = 0; j < 500; j++) {
                used.add(POOL.heapBuffer(8_000));
            }
            used.forEach(ByteBuf::release);
        }
    }
}
