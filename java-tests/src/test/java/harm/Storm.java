package harm;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import subject.Definer;
import subject.Say;

/**
 * Many threads that allocate, define classes and forget them, compute, call native code and run other programs, and check all of it.
 * Arguments: how many threads, and what they do ({@code all}, or {@code quiet}: no classes and no programs).
 */
public class Storm {
    static final Storm[] KEPT = {new Storm(), new Storm(), new Storm()};
    static volatile boolean going = true;
    /** Held for reading by threads that work, so that its holder for writing knows that all rest. */
    static final ReadWriteLock REST = new ReentrantReadWriteLock(true);

    /** One round of work, which throws if anything is not as it must be. */
    interface Work {
        void round(int number) throws Exception;
    }

    /**
     * Works until the end. The sleep between rounds sets the size of the load, nobody relies on it: about one processor is
     * left to the copy, whose priority is low, and classes are not defined so fast that every fork comes too late.
     */
    static class Worker extends Thread {
        final Work work;
        final long pauseMillis;
        int rounds;
        Throwable fault;

        Worker(String name, Work work, long pauseMillis) {
            super(name);
            this.work = work;
            this.pauseMillis = pauseMillis;
        }

        @Override
        public void run() {
            try {
                do {
                    REST.readLock().lock();
                    try {
                        work.round(rounds++);
                    } finally {
                        REST.readLock().unlock();
                    }
                    Thread.sleep(pauseMillis);
                } while (going);
            } catch (Throwable e) {
                fault = e;
            }
        }
    }

    static class Node {
        final Node next;
        final long value;

        Node(Node next, long value) {
            this.next = next;
            this.value = value;
        }
    }

    /** Makes a list and checks the one before, which has been through collections and dumps by then. */
    static class Allocating implements Work {
        static final int LENGTH = 5_000;
        Node list;

        @Override
        public void round(int number) {
            long sum = 0;
            for (Node node = list; node != null; node = node.next) {
                sum += node.value;
            }
            must(sum == (number == 0 ? 0 : (number - 1) * (long) LENGTH + LENGTH * (LENGTH - 1L) / 2), "sum " + sum);
            list = null;
            for (int i = 0; i < LENGTH; i++) {
                list = new Node(list, number + i);
            }
        }
    }

    /** Defines classes and forgets those of old, loaders and all. */
    static class Defining implements Work {
        final Deque<Object> recent = new ArrayDeque<>();

        @Override
        public void round(int number) throws ReflectiveOperationException {
            Object object = new Definer().instance("made/" + Thread.currentThread().getName() + "_" + number);
            recent.add(object);
            Object oldest = recent.size() > 20 ? recent.remove() : recent.peek();
            must(oldest.getClass().getField("number").getInt(null) == 4711, "static field of " + oldest);
        }
    }

    /** Loops that are soon compiled, with a result that is known. */
    static class Computing implements Work {
        @Override
        public void round(int number) {
            long limit = 20_000 + number % 1000;
            long sum = 0;
            for (long i = 1; i <= limit; i++) {
                sum += i * i * i;
            }
            long triangle = limit * (limit + 1) / 2;
            must(sum == triangle * triangle, "sum of cubes " + sum);
        }
    }

    /** Runs a program that succeeds. */
    static class Executing implements Work {
        @Override
        public void round(int number) throws Exception {
            Process process = new ProcessBuilder("true").start();
            must(process.waitFor() == 0, "exit code of a program");
            process.getInputStream().close();
            process.getErrorStream().close();
            process.getOutputStream().close();
        }
    }

    /** Hands arrays to native code, which holds the collector up while it reads and writes them (JNI's critical regions). */
    static class Deflating implements Work {
        final byte[] plain = new byte[100_000];

        @Override
        public void round(int number) throws DataFormatException {
            for (int i = 0; i < plain.length; i++) {
                plain[i] = (byte) (i * number >> 8);
            }
            byte[] packed = new byte[2 * plain.length];
            Deflater deflater = new Deflater();
            deflater.setInput(plain);
            deflater.finish();
            int length = deflater.deflate(packed);
            deflater.end();
            byte[] again = new byte[plain.length];
            Inflater inflater = new Inflater();
            inflater.setInput(packed, 0, length);
            must(inflater.inflate(again) == plain.length && Arrays.equals(plain, again), "what was compressed");
            inflater.end();
        }
    }

    static void must(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException(what);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        List<Worker> workers = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            workers.add(worker(i, args[1].equals("all") ? 5 : 2));
        }
        for (Worker worker : workers) {
            worker.start();
        }
        Say.expect(KEPT.length, Storm.class);
        obey(Say.ready());
        going = false;
        int faults = 0;
        long rounds = 0;
        for (Worker worker : workers) {
            worker.join();
            rounds += worker.rounds;
            if (worker.fault != null) {
                faults++;
                Say.line("FAULT", worker.getName(), worker.fault);
            }
        }
        Say.line(faults == 0 ? "HOLDS" : "BROKEN", "after", rounds, "rounds");
        System.exit(faults == 0 ? 0 : 1);
    }

    private static Worker worker(int number, int kinds) {
        switch (number % kinds) {
            case 0:
                return new Worker("allocating_" + number, new Allocating(), 50);
            case 1:
                return new Worker("computing_" + number, new Computing(), 50);
            case 2:
                return new Worker("defining_" + number, new Defining(), 400);
            case 3:
                return new Worker("deflating_" + number, new Deflating(), 200);
            default:
                return new Worker("executing_" + number, new Executing(), 2000);
        }
    }

    /** {@code rest} stops all work until the next word; any other word is echoed. */
    private static void obey(String first) {
        for (String word = first; !word.equals("exit"); word = Say.hear()) {
            if (word.equals("rest")) {
                REST.writeLock().lock();
                Say.line("RESTING");
                Say.hear();
                REST.writeLock().unlock();
            } else {
                Say.line("ECHO", word);
            }
        }
    }
}
