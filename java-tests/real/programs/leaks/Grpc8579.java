// report  grpc/grpc-java#8579
// leaks   io.grpc:grpc-context:1.20.0
// mended  use: cancel the context when the call ends
// java    11
// class   io.grpc.Context$CancellableContext
// number  40000
// holder  SERVER\b|listeners
// reason  (?i)(not|never) (cancelled|canceled|closed|completed)
// change  cancel each context in a finally block
package leaks;

import io.grpc.Context;

public final class Grpc8579 {
    static final Context.CancellableContext SERVER = Context.ROOT.withCancellation();
    static final Context.Key<Integer> CALL = Context.key("call");

    public static void main(String[] args) {
        SERVER.run(() -> {
            // From last to first is how the list is searched.
            for (int i = 0; i < 40_000; i++) {
                Context.CancellableContext call = Context.current().withValue(CALL, i).withCancellation();
                call.addListener(context -> {}, Runnable::run);
                call.run(() -> {});
                if (args.length > 0) {
                    call.cancel(null);
                }
            }
        });
    }
}
