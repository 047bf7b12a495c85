// report  JDK-8303742
// leaks   -
// mended  java 21
// java    17
// release 11
// class   java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask java.util.concurrent.CompletableFuture$Timeout
// number  60000
// holder  delayer|CompletableFuture\$Delayer|CompletableFutureDelayScheduler
// reason  (?i)(already |are )(completed|done|finished|failed)|due in|wait an hour|timeouts?\b
// change  take Java 17.0.14, or complete the future with a value
package leaks;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

public final class Jdk8303742 {
    public static void main(String[] args) {
        for (int i = 0; i < 60_000; i++) {
            CompletableFuture<String> answer = new CompletableFuture<String>().orTimeout(1, TimeUnit.HOURS);
            answer.completeExceptionally(new IllegalStateException("refused"));
        }
    }
}
