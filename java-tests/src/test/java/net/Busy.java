package net;

import java.util.ArrayList;
import java.util.List;
import subject.Say;

/** Holds more than any buffer of a socket takes, and counts without end; answers when the count has gone on. Allocates, too. */
public class Busy {
    static final int MORE = 200;
    static final int MORE_BYTES = 100_000;
    private static final int HELD = 48;
    private static final byte[][] BLOCKS = new byte[HELD][1 << 20];
    private static final List<byte[]> KEPT = new ArrayList<>();
    private static volatile long count;

    public static void main(String[] args) {
        Thread counter = new Thread(() -> {
            while (true) {
                count++;
            }
        }, "counter");
        counter.setDaemon(true);
        counter.start();
        Say.atLeast(HELD, byte[].class);
        String word = Say.ready();
        while (!"exit".equals(word)) {
            if (word.equals("more")) {
                for (int i = 0; i < MORE; i++) {
                    more();
                }
            }
            long before = count;
            while (count == before) {
                Thread.yield();
            }
            Say.line("COUNT", word, count);
            word = Say.hear();
        }
        Say.line("BYE", BLOCKS.length + KEPT.size());
    }

    private static void more() {
        KEPT.add(new byte[MORE_BYTES]);
    }
}
