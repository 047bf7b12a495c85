package harness;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

/** Listens on a socket that has a path; Java knows such sockets since 16, and these tests are compiled for 11. */
public final class SocketFile implements AutoCloseable {
    private final ServerSocketChannel server;

    public SocketFile(Path path) {
        try {
            ProtocolFamily unix = StandardProtocolFamily.valueOf("UNIX");
            server = (ServerSocketChannel) ServerSocketChannel.class.getMethod("open", ProtocolFamily.class).invoke(null, unix);
            Class<?> addresses = Class.forName("java.net.UnixDomainSocketAddress");
            server.bind((SocketAddress) addresses.getMethod("of", Path.class).invoke(null, path));
        } catch (ReflectiveOperationException | IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** At most this many bytes of the next connection, which is closed then. */
    public CompletableFuture<byte[]> take(int most) {
        return CompletableFuture.supplyAsync(() -> {
            try (SocketChannel peer = server.accept(); InputStream in = Channels.newInputStream(peer)) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                byte[] room = new byte[65_536];
                int count = 0;
                while (count >= 0 && bytes.size() < most) {
                    bytes.write(room, 0, count);
                    count = in.read(room, 0, Math.min(room.length, most - bytes.size()));
                }
                return bytes.toByteArray();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
