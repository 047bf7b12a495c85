package rewriting;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import subject.Say;

/**
 * A class loader whose loadClass calls methods of the classes that it defines itself, and that denies all names which no
 * class of this program has. It prints which names it was asked for. Runs on Java 8.
 */
public final class Looping extends ClassLoader {
    static final int ROUNDS = 20_000;

    /** The JVM asks the loader for its superclass: Object. */
    public static final class Helper {
        static Object sink;

        public static void help(String name) {
            sink = new byte[name.length()];
        }
    }

    /** The JVM need not ask the loader for Object. */
    public static final class ListHelper extends AbstractList<String> {
        static Object sink;

        @Override
        public String get(int index) {
            return "";
        }

        @Override
        public int size() {
            return 0;
        }

        static int half(int number) {
            if (number % 2 != 0) {
                throw new ArithmeticException();
            }
            return number / 2;
        }

        public static void help(String name) {
            sink = new char[name.length()];
        }

        public static void work() {
            for (int i = 0; i < ROUNDS; i++) {
                try {
                    half(i);
                } catch (ArithmeticException odd) {
                    sink = odd;
                }
                sink = new boolean[1];
                sink = new ListHelper[2];
                sink = new ListHelper[2][];
                sink = new String[2][3];
            }
        }
    }

    /** Java 25 lets nobody change a class whose initialiser has failed. */
    static final class Failing {
        static final int VALUE = Integer.parseInt("none");
    }

    private final String own;
    private final List<String> asked = new ArrayList<>();
    private Method help;

    private Looping(Class<?> own) {
        this.own = own.getName();
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        asked.add(name);
        if (help != null) {
            try {
                help.invoke(null, name);
            } catch (InvocationTargetException thrown) {
                throw (Error) thrown.getCause();
            } catch (IllegalAccessException refused) {
                throw new IllegalStateException(refused);
            }
        }
        if (name.equals(own)) {
            byte[] bytes = bytes(name);
            return defineClass(name, bytes, 0, bytes.length);
        }
        if (name.contains("Hprof") || name.contains("hprof")) {
            throw new ClassNotFoundException(name);
        }
        return super.loadClass(name, resolve);
    }

    private static byte[] bytes(String name) throws ClassNotFoundException {
        try (InputStream in = getSystemResourceAsStream(name.replace('.', '/') + ".class")) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            for (int next = in.read(); next >= 0; next = in.read()) {
                out.write(next);
            }
            return out.toByteArray();
        } catch (IOException failed) {
            throw new ClassNotFoundException(name, failed);
        }
    }

    private static Class<?> defined(Class<?> type) throws ReflectiveOperationException {
        Looping loader = new Looping(type);
        Class<?> own = loader.loadClass(type.getName());
        loader.help = own.getMethod("help", String.class);
        Say.line("LOADED", loader.loadClass("java.util.List").getName(), own != type);
        if (type == ListHelper.class) {
            own.getMethod("work").invoke(null);
        }
        Say.line("ASKED", loader.asked);
        return own;
    }

    /** As another agent: it leaves a class that has failed, on Java 8 anonymous classes whose constants are objects, too. */
    public static void premain(String options) throws Throwable {
        try {
            Say.line("VALUE", Failing.VALUE);
        } catch (ExceptionInInitializerError failed) {
            Say.line("FAILED", failed.getCause().getMessage());
        }
        MethodType type = MethodType.methodType(int.class, int.class, int.class, int.class);
        MethodHandle sum = MethodHandles.lookup().findStatic(Looping.class, "sum", type);
        sum = MethodHandles.insertArguments(MethodHandles.insertArguments(sum, 0, 1), 1, 2);
        int result = 0;
        for (int i = 0; i < 2000; i++) {
            result += (int) sum.invoke(3);
        }
        Say.line("SUM", result);
    }

    static int sum(int one, int two, int three) {
        return one + two + three;
    }

    public static void main(String[] args) throws Exception {
        Say.line("NAME", defined(Helper.class).getName());
        Say.line("NAME", defined(ListHelper.class).getName());
        mustThrow(new Object(), -1);
        mustThrow("hprof", 1_000_000);
        Say.ready();
    }

    /** Calls of Object.wait by others than programs change nothing for programs. */
    private static void mustThrow(Object object, int nanos) throws InterruptedException {
        try {
            synchronized (object) {
                object.wait(1, nanos);
            }
            Say.line("WAITED");
        } catch (IllegalArgumentException refused) {
            Say.line("REFUSED", refused.getMessage(), refused.getStackTrace()[0].getMethodName());
        }
    }
}
