// report  eclipse-vertx/vert.x#6311
// leaks   io.vertx:vertx-core:5.0.7
// mended  io.vertx:vertx-core:4.5.21
// java    17
// release 11
// class   io.vertx.core.net.impl.NetClientImpl io.vertx.core.net.impl.tcp.NetClientImpl
// number  2000
// holder  CloseFuture\b|VertxImpl\b|VERTX\b
// reason  (?i)\bclosed\b
// change  take a version that forgets a client when it closes
package leaks;

import io.vertx.core.Vertx;
import java.util.concurrent.TimeUnit;

/** Clients that are closed at once. */
public final class Vertx6311 {
    static final Vertx VERTX = Vertx.vertx();

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 2000; i++) {
            VERTX.createNetClient().close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
        }
    }
}
