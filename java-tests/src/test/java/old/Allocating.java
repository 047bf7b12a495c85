package old;

import java.util.ArrayList;
import java.util.List;
import subject.Say;

/** Makes a known number of objects, then ends, or waits for a word. No lambdas: the JDK's agent breaks them. */
public class Allocating {
    static final int KEPT = 1234;
    static final List<Object> ALL = new ArrayList<>();

    static class Thing {}

    public static void main(String[] args) {
        for (int i = 0; i < KEPT; i++) {
            ALL.add(new Thing());
        }
        if (args.length == 0) {
            Say.ready();
        }
    }
}
