package monitors;

import java.util.concurrent.atomic.AtomicBoolean;
import subject.ClassFile;
import subject.Definer;
import subject.Say;

/** A hundred threads that want a few monitors, wait and notify, and load classes, until they are asked to end. */
public class Crowd {
    static final int THREADS = 100;
    static final Object[] LOCKS = {new Object(), new Crowd(), new int[0]};
    static final long[] COUNTS = new long[LOCKS.length];

    public static void main(String[] args) throws InterruptedException {
        AtomicBoolean going = new AtomicBoolean(true);
        long[] own = new long[THREADS];
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int number = i;
            threads[i] = new Thread(() -> {
                while (going.get()) {
                    turn(number, own[number]++);
                }
            }, "crowd " + i);
            threads[i].start();
        }
        Say.ready();
        going.set(false);
        long turns = 0;
        for (int i = 0; i < THREADS; i++) {
            threads[i].join();
            turns += own[i];
        }
        long counted = 0;
        for (long count : COUNTS) {
            counted += count;
        }
        Say.line("TURNS", turns, counted);
    }

    private static void turn(int number, long turn) {
        int which = (int) ((number + turn) % LOCKS.length);
        synchronized (LOCKS[which]) {
            COUNTS[which]++;
            if (turn % 16 == 0) {
                Thread.yield();
            }
            if (turn % 64 == 1) {
                LOCKS[which].notify();
            }
            if (turn % 64 == 2) {
                await(LOCKS[which]);
            }
        }
        if (turn % 256 == 3) {
            new Definer().define(ClassFile.named("Loaded" + number + "x" + turn, "field"));
        }
    }

    private static void await(Object lock) {
        try {
            lock.wait(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
