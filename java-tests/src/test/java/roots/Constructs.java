package roots;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** What the language has frames hold in: expressions, constructors, finally, lambdas, reflection, monitors and more. */
final class Constructs {
    private static final ThreadLocal<Object> LOCAL = new ThreadLocal<>();

    private Constructs() {}

    static void addTo(Places places) {
        Object[][] all = {
            {"local variable", (Places.Body) Constructs::local}, {"expression", (Places.Body) Constructs::expression},
            {"argument", (Places.Body) Constructs::argument}, {"receiver", (Places.Body) Constructs::receiver},
            {"array", (Places.Body) Constructs::array}, {"constructor", (Places.Body) Constructs::constructor},
            {"value in finally", (Places.Body) Constructs::valueInFinally},
            {"exception in finally", (Places.Body) Constructs::exceptionInFinally},
            {"caught", (Places.Body) Constructs::caught}, {"close of a resource", (Places.Body) Constructs::resource},
            {"monitor", (Places.Body) Constructs::monitor}, {"synchronized method", (Places.Body) Constructs::synchronizedMethod},
            {"lambda", (Places.Body) Constructs::lambda}, {"stream", (Places.Body) Constructs::stream},
            {"optional", (Places.Body) Constructs::optional}, {"map in change", (Places.Body) Constructs::mapInChange},
            {"iterator of a map", (Places.Body) Constructs::iteratorOfMap},
        };
        for (Object[] each : all) {
            Places.Body body = (Places.Body) each[1];
            places.warm(body);
            places.add((String) each[0], body, Stop::park);
            places.addVirtual("virtual " + each[0], body, Stop::park);
        }
        places.add("reflection", Constructs::reflection, Stop::park);
        places.add("proxy", Constructs::proxy, Stop::park);
        places.add("thread-local variable", Constructs::threadLocal, Stop::park);
        places.addVirtual("virtual thread-local variable", Constructs::threadLocal, Stop::park);
    }

    private static void local(int place, Stop stop) {
        Tok tok = Tok.of(place);
        stop.here();
        Stop.passed += tok.use();
    }

    private static int two(Tok tok, int number) {
        return tok.use() + number;
    }

    private static int number(Stop stop) {
        stop.here();
        return 1;
    }

    /** The token waits for the next argument. */
    private static void expression(int place, Stop stop) {
        Stop.passed += two(Tok.of(place), number(stop));
    }

    private static void argument(int place, Stop stop) {
        take(Tok.of(place), stop);
    }

    private static void take(Tok tok, Stop stop) {
        stop.here();
        Stop.passed += tok.use();
    }

    private static class Holder {
        final Tok tok;

        Holder(Tok tok) {
            this.tok = tok;
        }

        Holder(int place, Stop stop) {
            tok = Tok.of(place);
            stop.here();
        }

        int stopIn(Stop stop) {
            stop.here();
            return tok.use();
        }

        synchronized int stopAlone(Stop stop) {
            stop.here();
            return tok.use();
        }
    }

    private static void receiver(int place, Stop stop) {
        Stop.passed += new Holder(Tok.of(place)).stopIn(stop);
    }

    private static void array(int place, Stop stop) {
        Object[] array = {Tok.of(place), null};
        stop.here();
        Stop.passed += array[0].hashCode();
    }

    private static void constructor(int place, Stop stop) {
        Stop.passed += new Holder(place, stop).tok.use();
    }

    private static void valueInFinally(int place, Stop stop) {
        Stop.passed += value(place, stop).use();
    }

    private static Tok value(int place, Stop stop) {
        try {
            return Tok.of(place);
        } finally {
            stop.here();
        }
    }

    private static void exceptionInFinally(int place, Stop stop) {
        try {
            fail(place, stop);
        } catch (Tok.Thrown e) {
            Stop.passed += e.tok.use();
        }
    }

    private static void fail(int place, Stop stop) {
        try {
            throw new Tok.Thrown(Tok.of(place));
        } finally {
            stop.here();
        }
    }

    private static void caught(int place, Stop stop) {
        try {
            throw new Tok.Thrown(Tok.of(place));
        } catch (Tok.Thrown e) {
            stop.here();
            Stop.passed += e.tok.use();
        }
    }

    private static void resource(int place, Stop stop) throws Exception {
        try (AutoCloseable closes = stop::here) {
            throw new Tok.Thrown(Tok.of(place));
        } catch (Tok.Thrown e) {
            Stop.passed += e.tok.use();
        }
    }

    private static void monitor(int place, Stop stop) {
        synchronized (new Holder(Tok.of(place))) {
            stop.here();
        }
    }

    private static void synchronizedMethod(int place, Stop stop) {
        Stop.passed += new Holder(Tok.of(place)).stopAlone(stop);
    }

    private static void lambda(int place, Stop stop) {
        Tok tok = Tok.of(place);
        Supplier<Integer> lambda = () -> {
            stop.here();
            return tok.use();
        };
        Stop.passed += lambda.get();
    }

    private static void stream(int place, Stop stop) {
        Arrays.asList(Tok.of(place), null).stream().map(tok -> tok == null ? 0 : stopWith(tok, stop)).forEach(sum -> Stop.passed += sum);
    }

    private static int stopWith(Tok tok, Stop stop) {
        stop.here();
        return tok.use();
    }

    private static void optional(int place, Stop stop) {
        Optional.of(Tok.of(place)).map(tok -> stopWith(tok, stop)).ifPresent(sum -> Stop.passed += sum);
    }

    private static void mapInChange(int place, Stop stop) {
        new ConcurrentHashMap<Tok, Integer>().computeIfAbsent(Tok.of(place), tok -> stopWith(tok, stop));
    }

    private static void iteratorOfMap(int place, Stop stop) {
        for (HashMap.Entry<String, Tok> entry : new HashMap<>(Collections.singletonMap("a", Tok.of(place))).entrySet()) {
            stop.here();
            Stop.passed += entry.getValue().use();
        }
    }

    private static void reflection(int place, Stop stop) throws Exception {
        Method method = Constructs.class.getDeclaredMethod("stopWith", Tok.class, Stop.class);
        method.invoke(null, Tok.of(place), stop);
    }

    private static void proxy(int place, Stop stop) {
        InvocationHandler handler = (proxy, method, arguments) -> stopWith((Tok) arguments[0], stop);
        @SuppressWarnings("unchecked")
        Comparable<Object> proxy = (Comparable<Object>) Proxy.newProxyInstance(Constructs.class.getClassLoader(),
                new Class<?>[] {IsLike.class}, handler);
        proxy.compareTo(Tok.of(place));
    }

    /** What the proxy implements. */
    interface IsLike extends Comparable<Object> {}

    private static void threadLocal(int place, Stop stop) {
        LOCAL.set(Tok.of(place));
        stop.here();
    }
}
