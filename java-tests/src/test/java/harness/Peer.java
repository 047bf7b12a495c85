package harness;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;

/** The other end of the agent's connection. It reads nothing before {@code collect}. */
public final class Peer implements AutoCloseable {
    /** Small, so that a peer that does not read is felt soon. */
    private static final int BUFFER_BYTES = 16 * 1024;

    private final ServerSocket server;
    private final ByteArrayOutputStream collected = new ByteArrayOutputStream();
    private Socket socket;
    private Thread collector;

    private Peer(InetAddress address) throws IOException {
        server = new ServerSocket();
        server.setReceiveBufferSize(BUFFER_BYTES);
        server.bind(new InetSocketAddress(address, 0));
        server.setSoTimeout((int) Jvm.LIMIT.toMillis());
    }

    /** Listens at a free port of the IPv4 loopback. */
    public static Peer listen() {
        try {
            return listen(InetAddress.getByName("127.0.0.1"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static Peer listen(InetAddress address) throws IOException {
        return new Peer(address);
    }

    public int port() {
        return server.getLocalPort();
    }

    /** The option for the agent. */
    public String option() {
        String host = server.getInetAddress().getHostAddress();
        return "net=" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port();
    }

    /** Waits for the agent. */
    public Peer accept() {
        try {
            socket = server.accept();
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads from now on at most this many bytes a second, until the agent ends the stream. */
    public Peer dawdle(int bytesPerSecond) {
        collector = new Thread(() -> {
            byte[] piece = new byte[bytesPerSecond / 10];
            try {
                while (socket.getInputStream().read(piece) >= 0) {
                    Thread.sleep(100);
                }
            } catch (IOException | InterruptedException closed) {
                // the agent or the test has had enough
            }
        }, "slow peer");
        collector.setDaemon(true);
        collector.start();
        return this;
    }

    /** Reads from now on whatever comes. */
    public Peer collect() {
        collector = new Thread(this::pump, "peer");
        collector.setDaemon(true);
        collector.start();
        return this;
    }

    private void pump() {
        byte[] piece = new byte[64 * 1024];
        try {
            InputStream in = socket.getInputStream();
            for (int read = in.read(piece); read >= 0; read = in.read(piece)) {
                collected.write(piece, 0, read);
            }
        } catch (SocketException closed) {
            // what came before it is kept
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** All that came until the agent ended the stream. */
    public byte[] all() {
        try {
            collector.join(Jvm.LIMIT.toMillis());
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        if (collector.isAlive()) {
            throw new AssertionError("time is up, and the stream has no end; bytes so far: " + collected.size());
        }
        return collected.toByteArray();
    }

    /** Waits for this many bytes and takes them, and no more. */
    public byte[] take(int bytes) {
        try {
            return socket.getInputStream().readNBytes(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends a command: tag, sequence number, length, body. */
    public Peer command(int tag, int... body) {
        byte[] bytes = new byte[body.length];
        for (int i = 0; i < body.length; i++) {
            bytes[i] = (byte) body[i];
        }
        return command(tag, body.length, bytes);
    }

    /** The same with a length that need not be true. */
    public Peer command(int tag, int length, byte[] body) {
        try {
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            ByteArrayOutputStream whole = new ByteArrayOutputStream();
            DataOutputStream to = new DataOutputStream(whole);
            to.writeByte(tag);
            to.writeInt(0x01020304);
            to.writeInt(length);
            to.write(body);
            out.write(whole.toByteArray());
            out.flush();
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends bytes that need be no command. */
    public Peer send(int... bytes) {
        try {
            for (int b : bytes) {
                socket.getOutputStream().write(b);
            }
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends no more, but goes on reading. */
    public Peer endCommands() {
        try {
            socket.shutdownOutput();
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Breaks the connection off, with a reset. */
    public void reset() {
        try {
            socket.setSoLinger(true, 0);
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            if (socket != null) {
                socket.close();
            }
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
