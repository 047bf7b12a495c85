package cpu;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import subject.ClassBytes;
import subject.Say;

/** A hundred threads come and go, each of them loads classes of its own, runs them, throws exceptions; and all is right. */
public class Churn {
    private static final int THREADS = 100;
    private static final long INPUT = 42;
    private static final AtomicLong RUNS = new AtomicLong();
    private static final AtomicReference<Throwable> WRONG = new AtomicReference<>();

    /** Defines one class anew. */
    private static final class Definer extends ClassLoader {
        Class<?> define(byte[] code) {
            return defineClass(null, code, 0, code.length);
        }
    }

    /** What is loaded. */
    public static class Work {
        public long run(long x) {
            // Of another loader: it sees nothing of the package it has the name of.
            for (int i = 0; i < 50_000; i++) {
                x = x * 31 + 7;
            }
            return x;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        byte[] code = ClassBytes.of(Work.class);
        long expected = new Work().run(INPUT);
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000;
        while (System.nanoTime() < end) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Thread thread = new Thread(() -> live(code, expected));
                thread.start();
                threads.add(thread);
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        Say.line("RUNS", RUNS);
        Say.line("WRONG", WRONG.get());
        Say.ready();
    }

    private static void live(byte[] code, long expected) {
        try {
            for (int i = 0; i < 3; i++) {
                Class<?> type = new Definer().define(code);
                Object work = type.getConstructor().newInstance();
                long found = (Long) type.getMethod("run", long.class).invoke(work, INPUT);
                if (found != expected) {
                    throw new IllegalStateException(found + " is not " + expected);
                }
                fall(100);
                RUNS.incrementAndGet();
            }
        } catch (Throwable e) {
            WRONG.set(e);
        }
    }

    /** Unwinds many frames at once. */
    private static void fall(int depth) {
        try {
            climb(depth);
            throw new IllegalStateException("nothing was thrown");
        } catch (ArithmeticException expected) {
            // as it should be
        }
    }

    private static void climb(int depth) {
        if (depth == 0) {
            throw new ArithmeticException();
        }
        climb(depth - 1);
    }
}
