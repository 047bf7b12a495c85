package lifecycle;

import java.util.ArrayDeque;
import java.util.Deque;
import subject.Definer;
import subject.Say;

/** Never stops to define classes, to make objects of them and to forget the older ones: some thousands in each second. */
public class ClassLoading {
    /** A JVM that unloads no classes (ZGC before Java 12) has room for a minute of this pace in 256 MB. */
    private static final int CLASSES_IN_A_MILLISECOND = 2;

    static final Deque<Object> RECENT = new ArrayDeque<>();
    static volatile boolean going = true;

    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = {thread(), thread()};
        for (Thread thread : threads) {
            thread.start();
        }
        Say.ready();
        going = false;
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static Thread thread() {
        return new Thread(() -> {
            try {
                define();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private static void define() throws InterruptedException {
        String me = Thread.currentThread().getName().replace('-', '_');
        for (int i = 0; going; i++) {
            Object object = new Definer().instance("made/" + me + "_" + i);
            synchronized (RECENT) {
                RECENT.add(object);
                if (RECENT.size() > 500) {
                    RECENT.remove();
                }
            }
            if (i % CLASSES_IN_A_MILLISECOND == 0) {
                Thread.sleep(1);
            }
        }
    }
}
