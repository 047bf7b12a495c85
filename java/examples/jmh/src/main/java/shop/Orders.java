package shop;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** What an order allocates: {@code java -jar benchmarks.jar -prof hprof} shows it for each benchmark. */
@State(Scope.Thread)
public class Orders {
    private int number;

    /** Small objects. */
    @Benchmark
    public List<String> names() {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            names.add("order " + (number + i));
        }
        number++;
        return names;
    }

    /** One array. */
    @Benchmark
    public byte[] receipt() {
        return new byte[10_000];
    }

    /** Objects of several classes and sizes. */
    @Benchmark
    public Map<Integer, long[]> totals() {
        Map<Integer, long[]> totals = new HashMap<>();
        for (int i = 1000; i < 1016; i++) {
            totals.put(i, new long[i % 5]);
        }
        return totals;
    }
}
