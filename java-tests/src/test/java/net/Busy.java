package net;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import subject.Say;

/** Holds more than any buffer of a socket takes, and counts without end; answers when the count has gone on. Allocates and works, too. */
public class Busy {
    static final int MORE = 200;
    static final int MORE_BYTES = 100_000;
    static final int WORK_MILLIS = 200;
    private static final int HELD = 48;
    private static final byte[][] BLOCKS = new byte[HELD][1 << 20];
    private static final List<byte[]> KEPT = new ArrayList<>();
    private static volatile long count;
    private static volatile int worked;

    public static void main(String[] args) throws InterruptedException {
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
            if (word.equals("work")) {
                Thread worker = new Thread(Busy::work, "worker");
                worker.start();
                worker.join();
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

    /** Runs for {@link #WORK_MILLIS} of its own time. */
    private static void work() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long end = threads.getCurrentThreadCpuTime() + WORK_MILLIS * 1_000_000L;
        while (threads.getCurrentThreadCpuTime() < end) {
            for (int i = 0; i < 100_000; i++) {
                worked = worked * 31 + i;
            }
        }
    }

    private static void more() {
        KEPT.add(new byte[MORE_BYTES]);
    }
}
