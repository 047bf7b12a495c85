package shop;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;

/** A shop that forgets no session, while its workers hold buffers and a queue waits. */
public class Shop {
    static final Map<Integer, Session> SESSIONS = new HashMap<>();
    static final LinkedBlockingQueue<Order> ORDERS = new LinkedBlockingQueue<>();
    static final ThreadLocal<byte[]> SCRATCH = ThreadLocal.withInitial(() -> new byte[900_000]);

    static class Session {
        final String user;
        final List<Item> basket = new ArrayList<>();

        Session(int number) {
            user = "user " + number;
        }

        void add(int count) {
            for (int i = 0; i < count; i++) {
                basket.add(new Item("item " + i));
            }
        }
    }

    static class Item {
        final String name;
        final byte[] picture = new byte[600];

        Item(String name) {
            this.name = name;
            picture[0] = (byte) name.length();
        }
    }

    static class Order {
        final int[] amounts = new int[400];
    }

    static void work(CountDownLatch ready) {
        byte[][] buffers = new byte[60][];
        for (int i = 0; i < buffers.length; i++) {
            buffers[i] = new byte[20_000];
        }
        SCRATCH.get()[0] = 1;
        ready.countDown();
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            System.out.println(buffers.length);
        }
    }

    public static void main(String[] args) throws Exception {
        CountDownLatch ready = new CountDownLatch(8);
        for (int i = 1; i <= 8; i++) {
            Thread worker = new Thread(() -> work(ready), "worker-" + i);
            worker.setDaemon(true);
            worker.start();
        }
        for (int user = 0; user < 6_000; user++) {
            Session session = new Session(user);
            SESSIONS.put(user, session);
            session.add(5 + user % 11);
        }
        for (int i = 0; i < 5_000; i++) {
            ORDERS.add(new Order());
        }
        ready.await();
    }
}
