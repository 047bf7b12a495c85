import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Leaks sessions through a static map, and holds buffers in the frames of threads, one with a hostile name. */
public class Leak {
    static final Map<Integer, Session> SESSIONS = new HashMap<>();

    static class Session {
        final List<Item> basket = new ArrayList<>();
    }

    static class Item {
        final byte[] picture = new byte[600];
        final String name;

        Item(String name) {
            this.name = name;
        }
    }

    static void buy(Session session, int count) {
        for (int i = 0; i < count; i++) {
            session.basket.add(new Item("planted-secret-" + i));
        }
    }

    static void work(Object lock) {
        byte[][] buffers = new byte[100][];
        for (int i = 0; i < buffers.length; i++) {
            buffers[i] = new byte[20_000];
        }
        synchronized (lock) {
            lock.notifyAll();
            try {
                lock.wait();
            } catch (InterruptedException e) {
                System.out.println(buffers.length);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Object lock = new Object();
        synchronized (lock) {
            Thread thread = new Thread(() -> work(lock), "</script><script>document.title='owned'</script><img src=x>");
            thread.setDaemon(true);
            thread.start();
            lock.wait();
        }
        for (int user = 0; user < 4_000; user++) {
            Session session = new Session();
            SESSIONS.put(user, session);
            buy(session, 10 + user % 15);
        }
    }
}
