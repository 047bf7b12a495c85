package roots;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/** The JDK's own continuations, which virtual threads are made of, without a thread and within one: since 21. */
final class Continuations {
    private static final List<Object> KEPT = new ArrayList<>();

    private final Object scope;
    private final Constructor<?> constructor;
    private final Method run;
    private final Method yield;

    private Continuations() throws ReflectiveOperationException {
        Class<?> scopes = Class.forName("jdk.internal.vm.ContinuationScope");
        Class<?> type = Class.forName("jdk.internal.vm.Continuation");
        scope = scopes.getConstructor(String.class).newInstance("own");
        constructor = type.getConstructor(scopes, Runnable.class);
        run = type.getMethod("run");
        yield = type.getMethod("yield", scopes);
    }

    static void addTo(Places places) throws ReflectiveOperationException {
        if (places.haveVirtual()) {
            Continuations all = new Continuations();
            places.add("continuation that yielded", all::left, () -> all.yield.invoke(null, all.scope));
            places.addVirtual("continuation in a virtual thread", all::within, Stop::park);
        }
    }

    private Object of(int place, Stop stop) throws ReflectiveOperationException {
        Runnable body = () -> Waiting.iterate(place, stop);
        return constructor.newInstance(scope, body);
    }

    private void left(int place, Stop stop) throws Exception {
        Object continuation = of(place, stop);
        synchronized (KEPT) {
            KEPT.add(continuation);
        }
        run.invoke(continuation);
        Stop.sleep();
    }

    private void within(int place, Stop stop) throws Exception {
        run.invoke(of(place, stop));
    }
}
