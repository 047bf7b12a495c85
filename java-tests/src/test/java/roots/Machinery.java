package roots;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.security.AccessControlContext;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.security.ProtectionDomain;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.management.NotificationEmitter;

/** What the JVM's own machinery holds: classes that are loaded or initialized, method handles, finalizers and more. */
@SuppressWarnings({"deprecation", "removal"})
final class Machinery {
    private static volatile Stop slow;
    private static volatile Thread victim;

    private Machinery() {}

    static void addTo(Places places) throws Throwable {
        places.add("class loader of a frame", (place, stop) -> ApartLoader.body("roots.Apart", stop).hold(place, stop), Stop::park);
        places.add("argument while a class is loaded", (place, stop) -> ApartLoader.body("roots.Apart$Calls", stop).hold(place, stop),
                Stop::park);
        places.add("exception while its handler is loaded",
                (place, stop) -> ApartLoader.body("roots.Apart$Throws", stop).hold(place, stop), Stop::park);
        places.add("class being initialized", Machinery::initialize, Stop::park);
        places.add("thread that waits for a class", Machinery::waitForClass, Stop::park);
        places.warm(Machinery::callSlow);
        places.add("argument while a class is initialized", Machinery::callSlow, Stop::park);
        places.add("finalizer", Machinery::finalizer, Stop::park);
        places.add("uncaught exception", Machinery::uncaught, Stop::park);
        places.add("privileged context", Machinery::privileged, Stop::park);
        places.warm(Machinery::bound);
        places.warm(Machinery::filtered);
        places.warm(Machinery::site);
        places.add("bound method handle", Machinery::bound, Stop::park);
        places.addVirtual("virtual bound method handle", Machinery::bound, Stop::park);
        places.add("argument of a method handle", Machinery::filtered, Stop::park);
        places.addVirtual("virtual argument of a method handle", Machinery::filtered, Stop::park);
        places.add("target of a call site", Machinery::site, Stop::park);
        places.warm(Machinery::deoptimized);
        places.add("frame that is deoptimized", Machinery::deoptimized, Stop::park);
        places.addVirtual("virtual frame that is deoptimized", Machinery::deoptimized, Stop::park);
        places.afterwards(() -> Stop.passed += new Two().area());
        if (has("java.lang.ref.Cleaner")) {
            places.add("cleaner", Machinery::cleaner, Stop::park);
        }
        if (has("java.lang.invoke.MethodHandles$Lookup$ClassOption")) {
            places.add("notification", Machinery::notification, Stop::park);
            places.add("hidden class", Machinery::hidden, Stop::park);
        }
        Method kill = method(Thread.class, "stop0");
        if (kill != null) {
            places.add("asynchronous exception", Machinery::victim, Stop::enter);
            int place = places.names().size() - 1;
            places.afterwards(() -> kill(kill, place));
        }
    }

    private static boolean has(String name) {
        try {
            return Class.forName(name) != null;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static Method method(Class<?> type, String name) {
        for (Method method : type.getDeclaredMethods()) {
            if (method.getName().equals(name)) {
                method.setAccessible(true);
                return method;
            }
        }
        return null;
    }

    /** Its initializer stops with a token. */
    private static final class Initialized {
        static int number;

        static {
            Tok tok = Tok.of(slowPlace);
            slow.here();
            number = tok.use();
        }
    }

    private static volatile int slowPlace;

    private static void initialize(int place, Stop stop) {
        slowPlace = place;
        slow = stop;
        Stop.passed += Initialized.number;
    }

    private static void waitForClass(int place, Stop stop) {
        while (slow == null || !slow.hasStopped()) {
            Thread.yield();
        }
        Tok tok = Tok.of(place);
        stop.running();
        Stop.passed += Initialized.number + tok.use();
    }

    private static volatile Stop slowCall;

    /** Its initializer stops. */
    private static final class Slow {
        static {
            slowCall.here();
        }

        static int take(Tok tok) {
            return tok.use();
        }
    }

    private static void callSlow(int place, Stop stop) {
        if (place >= 0) {
            slowCall = stop;
            Stop.passed += Slow.take(Tok.of(place));
        }
    }

    private static final class Dying {
        private final Tok tok;
        private final Stop stop;

        Dying(int place, Stop stop) {
            tok = Tok.of(place);
            this.stop = stop;
        }

        @Override
        protected void finalize() {
            stop.here();
            Stop.passed += tok.use();
        }
    }

    private static void finalizer(int place, Stop stop) {
        make(place, stop);
        collect(stop);
    }

    private static void make(int place, Stop stop) {
        Stop.passed += new Dying(place, stop).tok.use();
    }

    /** Collects until something has stopped. */
    private static void collect(Stop stop) {
        while (!stop.hasStopped()) {
            System.gc();
            System.runFinalization();
        }
    }

    private static void cleaner(int place, Stop stop) throws Exception {
        Object cleaner = Class.forName("java.lang.ref.Cleaner").getMethod("create").invoke(null);
        Tok tok = Tok.of(place);
        Runnable action = () -> {
            stop.here();
            Stop.passed += tok.use();
        };
        cleaner.getClass().getMethod("register", Object.class, Runnable.class).invoke(cleaner, new Object(), action);
        while (!stop.hasStopped()) {
            System.gc();
        }
    }

    private static void uncaught(int place, Stop stop) {
        Thread thread = new Thread(() -> {
            throw new Tok.Thrown(Tok.of(place));
        });
        thread.setUncaughtExceptionHandler((self, exception) -> stop.here());
        thread.setDaemon(true);
        thread.start();
    }

    /** Up to Java 23, the context leads to what combines domains. */
    private static void privileged(int place, Stop stop) {
        PrivilegedAction<Object> action = () -> {
            stop.here();
            return null;
        };
        AccessController.doPrivileged(action, context(place));
    }

    private static AccessControlContext context(int place) {
        Tok tok = Tok.of(place);
        return new AccessControlContext(new AccessControlContext(new ProtectionDomain[0]), (own, given) -> {
            Stop.passed += tok.use();
            return own;
        });
    }

    private static int stopWith(Tok tok, Stop stop) {
        stop.here();
        return tok.use();
    }

    private static int stopOnly(Stop stop) {
        stop.here();
        return 1;
    }

    private static int takeBoth(Tok tok, int number) {
        return tok.use() + number;
    }

    private static MethodHandle find(String name, Class<?> result, Class<?>... arguments) {
        try {
            return MethodHandles.lookup().findStatic(Machinery.class, name, MethodType.methodType(result, arguments));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final MethodHandle STOP_WITH = find("stopWith", int.class, Tok.class, Stop.class);
    /** Makes a token, then calls what stops, then passes both on: meanwhile only a frame of its own form has the token. */
    private static final MethodHandle FILTERED = MethodHandles.filterArguments(find("takeBoth", int.class, Tok.class, int.class), 0,
            find("make", Tok.class, int.class), find("stopOnly", int.class, Stop.class));

    private static Tok make(int place) {
        return Tok.of(place);
    }

    private static void bound(int place, Stop stop) throws Throwable {
        Stop.passed += (int) STOP_WITH.bindTo(Tok.of(place)).invokeExact(stop);
    }

    private static void filtered(int place, Stop stop) throws Throwable {
        Stop.passed += (int) FILTERED.invokeExact(place, stop);
    }

    private static void site(int place, Stop stop) throws Throwable {
        Stop.passed += (int) new MutableCallSite(STOP_WITH.bindTo(Tok.of(place))).dynamicInvoker().invokeExact(stop);
    }

    /** Hears of a collection, since Java 17 in a thread that JVMTI does not hide. */
    private static void notification(int place, Stop stop) {
        AtomicBoolean hasCome = new AtomicBoolean();
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            ((NotificationEmitter) collector).addNotificationListener((notification, handback) -> {
                if (hasCome.compareAndSet(false, true)) {
                    Stop.passed += stopWith(Tok.of(place), stop);
                }
            }, null, null);
        }
        while (!stop.hasStopped()) {
            System.gc();
        }
    }

    private abstract static class Shape {
        abstract int area();
    }

    private static final class One extends Shape {
        @Override
        int area() {
            return 1;
        }
    }

    /** Is loaded when code that knows only the other has stopped. */
    private static final class Two extends Shape {
        @Override
        int area() {
            return 2;
        }
    }

    private static void deoptimized(int place, Stop stop) {
        Stop.passed += area(new One(), Tok.of(place), stop);
    }

    private static int area(Shape shape, Tok tok, Stop stop) {
        int area = shape.area();
        stop.here();
        return area + shape.area() + tok.use();
    }

    private static void hidden(int place, Stop stop) throws Throwable {
        Class<?> option = Class.forName("java.lang.invoke.MethodHandles$Lookup$ClassOption");
        Method define = MethodHandles.Lookup.class.getMethod("defineHiddenClass", byte[].class, boolean.class,
                Array.newInstance(option, 0).getClass());
        MethodHandles.Lookup lookup = (MethodHandles.Lookup) define.invoke(MethodHandles.lookup(), ApartLoader.bytes("roots.Apart"), true,
                Array.newInstance(option, 0));
        ((Places.Body) lookup.lookupClass().getConstructor().newInstance()).hold(place, stop);
    }

    private static void victim(int place, Stop stop) {
        victim = Thread.currentThread();
        stop.here();
    }

    private static void kill(Method kill, int place) {
        try {
            kill.invoke(victim, new Tok.Thrown(Tok.of(place)));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
