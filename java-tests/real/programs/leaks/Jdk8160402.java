// report  JDK-8160402
// leaks   -
// mended  java 11
// java    8
// class   java.util.concurrent.CompletableFuture$OrRelay java.util.concurrent.CompletableFuture$CoCompletion java.util.concurrent.CompletableFuture$AnyOf
// number  60000|120000
// holder  STOP\b
// reason  (?i)(not|never) complete[sd]?|nobody completes|waits? for
// change  do not wait for any of a future that stays open; take Java 9
package leaks;

import java.util.concurrent.CompletableFuture;

public final class Jdk8160402 {
    static final CompletableFuture<String> STOP = new CompletableFuture<>();

    public static void main(String[] args) {
        for (int i = 0; i < 60_000; i++) {
            CompletableFuture<String> slow = new CompletableFuture<>();
            CompletableFuture.anyOf(STOP, slow, CompletableFuture.completedFuture("done"));
        }
    }
}
