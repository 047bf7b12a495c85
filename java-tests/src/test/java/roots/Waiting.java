package roots;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Threads that wait in every way, each inside a loop over a list that only the loop's iterator leads to. */
final class Waiting {
    private Waiting() {}

    static void addTo(Places places) {
        Map<String, Stop.Way> ways = new LinkedHashMap<>();
        ways.put("park", Stop::park);
        ways.put("parkNanos", Stop::parkNanos);
        ways.put("sleep", Stop::sleep);
        ways.put("wait", Stop::await);
        ways.put("monitor", Stop::enter);
        ways.put("lock", Stop::lock);
        ways.put("join", Stop::join);
        ways.put("latch", Stop::latch);
        ways.put("take", Stop::take);
        ways.put("future", Stop::future);
        ways.put("fork-join", Stop::forkJoin);
        ways.put("accept", Stop::accept);
        ways.put("read", Stop::read);
        ways.put("select", Stop::select);
        places.warm(Waiting::iterate);
        places.warm(Waiting::box);
        places.warm(Waiting::deep);
        ways.forEach((name, way) -> places.add(name + " in a loop", Waiting::iterate, way));
        ways.forEach((name, way) -> places.addVirtual("virtual " + name + " in a loop", Waiting::iterate, way));
        places.add("field of a box", Waiting::box, Stop::park);
        places.addVirtual("virtual field of a box", Waiting::box, Stop::park);
        places.add("deep", Waiting::deep, Stop::park);
        places.addVirtual("virtual deep", Waiting::deep, Stop::park);
        places.addVirtual("virtual pinned", Waiting::pinned, Stop::park);
    }

    static void iterate(int place, Stop stop) {
        List<Tok> list = new ArrayList<>();
        list.add(null);
        list.add(Tok.of(place));
        int at = 0;
        int sum = 0;
        for (Tok tok : list) {
            if (at++ == 0) {
                stop.here();
            } else {
                sum += tok.use();
            }
        }
        Stop.passed += sum;
    }

    private static final class Box {
        private final Tok tok;

        Box(Tok tok) {
            this.tok = tok;
        }
    }

    private static void box(int place, Stop stop) {
        Box box = new Box(Tok.of(place));
        stop.here();
        Stop.passed += box.tok.use();
    }

    private static void deep(int place, Stop stop) {
        Stop.passed += below(30, Tok.of(place), stop);
    }

    private static int below(int more, Tok tok, Stop stop) {
        if (more == 0) {
            stop.here();
            return tok.use();
        }
        Box box = new Box(tok);
        int sum = more % 2 == 0 ? below(more - 1, box.tok, stop) : below(more - 1, tok, stop) + 1;
        return sum + (more == 15 ? box.tok.use() : 0);
    }

    /** Until Java 23, a virtual thread in a monitor stays on its carrier. */
    private static void pinned(int place, Stop stop) {
        Tok tok = Tok.of(place);
        synchronized (tok) {
            stop.here();
        }
    }
}
