package sites;

import java.util.ArrayList;
import java.util.List;
import subject.FirstSample;
import subject.Say;

/** Two threads, one after the other, allocate at the same two lines: `one` keeps arrays, and `other` twice as many. */
public class Alike {
    static final List<Object> KEPT = new ArrayList<>();

    public static void main(String[] args) throws InterruptedException {
        start("one", 1000);
        start("other", 2000);
        Say.ready();
    }

    private static void start(String name, int arrays) throws InterruptedException {
        Thread thread = new Thread(() -> make(arrays), name);
        thread.start();
        thread.join();
    }

    private static void make(int arrays) {
        FirstSample.pass();
        for (int i = 0; i < arrays; i++) {
            KEPT.add(new Alike[2500]); // the first line
            KEPT.add(new Alike[2500]); // the second line
        }
    }
}
