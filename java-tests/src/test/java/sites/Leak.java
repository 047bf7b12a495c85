package sites;

import java.util.ArrayList;
import java.util.List;
import subject.Say;

/** Leaks arrays at one line, among garbage and other objects that live. */
public class Leak {
    public static final int LEAKS = 400;
    static final int LEAK_BYTES = 100_000;
    static final List<byte[]> LEAKED = new ArrayList<>();
    static final List<Object> OTHERS = new ArrayList<>();
    static volatile Object sink;

    public static void main(String[] args) {
        for (int i = 0; i < LEAKS; i++) {
            leak();
            for (int j = 0; j < 50; j++) {
                sink = new long[100];
            }
            OTHERS.add(new int[1000]);
        }
        Say.ready();
    }

    private static void leak() {
        LEAKED.add(new byte[LEAK_BYTES]); // the line that the reports must name
    }
}
