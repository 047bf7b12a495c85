package readers;

import java.util.ArrayList;
import java.util.List;

/** Keeps arrays until the heap is full, and ends of it. */
public class Filling {
    private static final List<Object> KEPT = new ArrayList<>();

    public static void main(String[] args) {
        for (;;) {
            KEPT.add(new int[10_000]);
        }
    }
}
