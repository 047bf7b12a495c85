package planted;

import java.util.concurrent.CountDownLatch;

/** What a frame of one thread keeps. */
final class Locals {
    private Locals() {}

    /** A text that grows in a local variable. */
    @Leak(first = {"thread: thread exporter", "text: says StringBuilder", "frame: says Builder\\.render"},
            screen = {"line: line Locals.java the exporter waits here"})
    public static final class Builder {
        public static void main(String[] args) {
            Service.start();
            CountDownLatch grown = new CountDownLatch(1);
            Service.daemon(() -> render(grown), "exporter").start();
            Service.await(grown);
            Service.ready();
        }

        private static int render(CountDownLatch grown) {
            StringBuilder text = new StringBuilder(1 << 25);
            for (int row = 0; row < 300_000; row++) {
                text.append("<tr><td>").append(row).append("</td></tr>");
            }
            pause(grown); // the exporter waits here
            return text.length();
        }

        private static void pause(CountDownLatch grown) {
            grown.countDown();
            Service.waitForEver();
        }
    }
}
