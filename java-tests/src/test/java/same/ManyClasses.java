package same;

import java.lang.invoke.ConstantCallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.lang.invoke.VolatileCallSite;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Supplier;
import subject.ClassBytes;
import subject.Definer;

/** Classes of other loaders, of every state and of every make, and what invokedynamic leaves. Runs on Java 8. */
class ManyClasses {
    /** Defined anew by other loaders and as a hidden class. */
    public static class Plugin {
        static int number = 17;
        static Object only = new int[] {1, 2, 3};
        long big = 42;
        Object object = "of " + number;
        Supplier<Object> supplier = () -> number;
    }

    /** Loaded and never initialised: the string is an object from the moment the class is there. */
    static class NotInitialised {
        static final String ONLY = "only from a class that is not initialised";
        static final int NUMBER = 5;
        static Object never = new Object();
    }

    /** Its initialiser fails. */
    static class Broken {
        static Object before = new Object();
        static int after = Integer.parseInt("no number");
    }

    private ManyClasses() {}

    static List<Object> all() throws Exception {
        List<Object> all = new ArrayList<>();
        byte[] plugin = ClassBytes.of(Plugin.class);
        for (int i = 0; i < 3; i++) {
            all.add(new Definer().define(plugin).getConstructor().newInstance());
            all.add(new Definer().instance("quiet/Made" + i));
        }
        // The class is kept too: Java 17's Parallel unloads one of which there are only arrays, and fails later.
        Class<?> ofArray = new Definer().define(plugin);
        all.add(ofArray);
        all.add(Array.newInstance(ofArray, 2, 2));
        all.add(Class.forName("same.ManyClasses$NotInitialised", false, ManyClasses.class.getClassLoader()));
        all.add(broken());
        all.add(Proxy.newProxyInstance(ManyClasses.class.getClassLoader(), new Class<?>[] {Runnable.class, Callable.class},
                (proxy, method, arguments) -> null));
        lambdas(all);
        handles(all);
        hidden(all, plugin);
        concatenation(all);
        record(all);
        return all;
    }

    private static Object broken() {
        try {
            return Broken.after;
        } catch (ExceptionInInitializerError e) {
            return e;
        }
    }

    private static void lambdas(List<Object> all) {
        String captured = "captured";
        long number = all.size();
        Function<Object, Object> capturing = other -> captured + number + other;
        Supplier<Object> reference = captured::length;
        Runnable free = () -> {};
        Function<Integer, Object> making = Object[]::new;
        all.add(capturing);
        all.add(capturing.apply("called"));
        all.add(reference);
        all.add(reference.get());
        all.add(free);
        all.add(making.apply(3));
    }

    private static void handles(List<Object> all) throws ReflectiveOperationException {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        MethodHandle length = lookup.findVirtual(String.class, "length", MethodType.methodType(int.class));
        all.add(length);
        all.add(MethodHandles.insertArguments(length, 0, "bound"));
        all.add(MethodHandles.guardWithTest(lookup.findStatic(Boolean.class, "parseBoolean",
                MethodType.methodType(boolean.class, String.class)), length, length));
        all.add(lookup.findStaticGetter(Plugin.class, "number", int.class));
        all.add(lookup.findGetter(Plugin.class, "big", long.class));
        all.add(new ConstantCallSite(length));
        all.add(new MutableCallSite(length.type()).dynamicInvoker());
        all.add(new VolatileCallSite(length));
        Method method = String.class.getMethod("trim");
        all.add(method);
        all.add(method.invoke(" reflected "));
    }

    /** A hidden class and its instance, where there are any: since Java 15. */
    private static void hidden(List<Object> all, byte[] bytes) throws ReflectiveOperationException {
        for (Method define : MethodHandles.Lookup.class.getMethods()) {
            if (define.getName().equals("defineHiddenClass")) {
                Object options = Array.newInstance(define.getParameterTypes()[2].getComponentType(), 0);
                MethodHandles.Lookup lookup = (MethodHandles.Lookup) define.invoke(MethodHandles.lookup(), bytes, true, options);
                all.add(lookup.lookupClass().getConstructor().newInstance());
                all.add(Array.newInstance(lookup.lookupClass(), 3));
            }
        }
    }

    /** The call site that `"a " + x + y` is since Java 9, made by hand as this is compiled for 8. */
    private static void concatenation(List<Object> all) throws ReflectiveOperationException {
        Class<?> factory;
        try {
            factory = Class.forName("java.lang.invoke.StringConcatFactory");
        } catch (ClassNotFoundException e) {
            return;
        }
        Method make = factory.getMethod("makeConcatWithConstants",
                MethodHandles.Lookup.class, String.class, MethodType.class, String.class, Object[].class);
        MethodType type = MethodType.methodType(String.class, Object.class, int.class);
        all.add(make.invoke(null, MethodHandles.lookup(), "concat", type, "a \1\1", new Object[0]));
    }

    /** A record, whose toString is a call site, if the class path has one. */
    private static void record(List<Object> all) throws ReflectiveOperationException {
        Class<?> point;
        try {
            point = Class.forName("values.Modern$Point");
        } catch (ClassNotFoundException e) {
            return;
        }
        Constructor<?> constructor = point.getDeclaredConstructor(int.class, long.class, String.class);
        constructor.setAccessible(true);
        Object record = constructor.newInstance(1, 2, "three");
        all.add(record);
        all.add(record.toString());
    }
}
