package planted;

import java.util.ArrayDeque;
import java.util.PriorityQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Work that comes faster than it is done. */
final class Queues {
    private Queues() {}

    static final class Order {
        final long number;
        final byte[] text = new byte[250]; // allocates the text

        Order(long number) {
            this.number = number;
        }
    }

    /** Takes orders from its queue, and hangs at the first. */
    static final class OrderWriter implements Runnable {
        final BlockingQueue<Order> orders = new LinkedBlockingQueue<>();

        @Override
        public void run() {
            try {
                orders.take();
                Service.waitForEver();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The queue of a slow consumer: a long chain of nodes. */
    @Leak(dump = "heap=all",
            first = {"queue: says LinkedBlockingQueue(?!\\$)", "objects: count 100000 planted.Queues$Order",
                "holder: says OrderWriter|order-writer"},
            screen = {"field: says \\borders\\b", "thread: thread order-writer",
                "site: line Queues.java allocates the text"})
    public static final class SlowConsumer {
        static OrderWriter writer;

        public static void main(String[] args) throws InterruptedException {
            Service.start();
            writer = new OrderWriter();
            Service.daemon(writer, "order-writer").start();
            for (int i = 0; i < 100_000; i++) {
                writer.orders.put(new Order(i));
            }
            Service.ready();
        }
    }

    static final class Job {
        final byte[] text = new byte[400];
    }

    @Leak(first = {"holder: static planted.Queues$Deque JOBS", "objects: count 60000 planted.Queues$Job", "queue: says ArrayDeque"})
    public static final class Deque {
        static final ArrayDeque<Job> JOBS = new ArrayDeque<>();

        public static void main(String[] args) {
            Service.fill(60_000, i -> JOBS.addLast(new Job()));
        }
    }

    static final class Alarm implements Comparable<Alarm> {
        final long due;
        final byte[] text = new byte[400];

        Alarm(long due) {
            this.due = due;
        }

        @Override
        public int compareTo(Alarm other) {
            return Long.compare(due, other.due);
        }
    }

    @Leak(first = {"holder: static planted.Queues$Priority ALARMS", "objects: count 60000 planted.Queues$Alarm",
            "queue: says PriorityQueue"})
    public static final class Priority {
        static final PriorityQueue<Alarm> ALARMS = new PriorityQueue<>();

        public static void main(String[] args) {
            Service.fill(60_000, i -> ALARMS.add(new Alarm(i * 31L % 1_000)));
        }
    }
}
