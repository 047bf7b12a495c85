package lifecycle;

import java.util.ArrayDeque;
import java.util.Deque;
import subject.Definer;
import subject.Say;

/** Never stops to define classes, to make objects of them and to forget the older ones. */
public class ClassLoading {
    static final Deque<Object> RECENT = new ArrayDeque<>();
    static volatile boolean going = true;

    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = {new Thread(ClassLoading::define), new Thread(ClassLoading::define)};
        for (Thread thread : threads) {
            thread.start();
        }
        Say.ready();
        going = false;
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void define() {
        String me = Thread.currentThread().getName().replace('-', '_');
        for (int i = 0; going; i++) {
            Object object = new Definer().instance("made/" + me + "_" + i);
            synchronized (RECENT) {
                RECENT.add(object);
                if (RECENT.size() > 500) {
                    RECENT.remove();
                }
            }
        }
    }
}
