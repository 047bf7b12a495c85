package harm;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import subject.Say;

/**
 * Damages its own heap as a faulty native library would, and heals it on request. Each word that it reads is the kind of
 * damage, or {@code heal}. No collection may come in between: it needs a collector that never collects.
 */
public class Poison {
    static final Poison[] KEPT = {new Poison(), new Poison()};

    static class Victim {
        Object reference;
    }

    static final Victim VICTIM = new Victim();
    static final long[] NUMBERS = new long[256];
    static final long LITTLE = 0x10;
    /** A class word that leads nowhere, whether it is compressed or not. */
    static final long NOWHERE = 0x7ff0_7ff0_7ff0_7ff0L;

    /** More bytes than the heap has. */
    static final int TOO_LONG = 0x7fff_ff00;

    /** The JDK's own class for such things, by reflection: a compiler for Java 8 does not know it. */
    final Object unsafe;
    final boolean isCompressed;

    Poison() {
        try {
            Field field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
            field.setAccessible(true);
            unsafe = field.get(null);
            isCompressed = (Integer) call("arrayIndexScale", new Class<?>[] {Class.class}, Object[].class) == 4;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        Say.expect(KEPT.length, Poison.class);
        KEPT[0].obey(Say.ready());
        Say.line("HOLDS");
    }

    private void obey(String first) throws ReflectiveOperationException {
        long place = (Long) call("objectFieldOffset", new Class<?>[] {Field.class}, Victim.class.getDeclaredField("reference"));
        for (String word = first; !word.equals("exit"); word = Say.hear()) {
            switch (word) {
                case "outside":
                    put(VICTIM, place, LITTLE);
                    break;
                case "inside":
                    damageInside(place);
                    break;
                case "class":
                    VICTIM.reference = new Victim();
                    put(VICTIM.reference, 8, NOWHERE);
                    break;
                case "length":
                    VICTIM.reference = new byte[8];
                    // Behind the length come the elements.
                    int elements = (Integer) call("arrayBaseOffset", new Class<?>[] {Class.class}, byte[].class);
                    call("putInt", new Class<?>[] {Object.class, long.class, int.class}, VICTIM.reference, elements - 4L, TOO_LONG);
                    break;
                default:
                    // What was damaged is forgotten, not mended: nothing reads it again.
                    put(VICTIM, place, 0);
            }
            Say.line("DID", word);
        }
    }

    /** A reference into an array of numbers: where it leads to, numbers are taken for an object's header. */
    private void damageInside(long place) throws ReflectiveOperationException {
        Arrays.fill(NUMBERS, NOWHERE & ~3 | 1);
        VICTIM.reference = NUMBERS;
        // Eight times as far if compressed references are shifted; the array is long enough for both.
        put(VICTIM, place, get(VICTIM, place) + 128);
    }

    /** Writes a reference, or as many bytes of a number. */
    private void put(Object object, long place, long value) throws ReflectiveOperationException {
        if (isCompressed) {
            call("putInt", new Class<?>[] {Object.class, long.class, int.class}, object, place, (int) value);
        } else {
            call("putLong", new Class<?>[] {Object.class, long.class, long.class}, object, place, value);
        }
    }

    private long get(Object object, long place) throws ReflectiveOperationException {
        return isCompressed ? (Integer) call("getInt", new Class<?>[] {Object.class, long.class}, object, place) & 0xffffffffL
                : (Long) call("getLong", new Class<?>[] {Object.class, long.class}, object, place);
    }

    private Object call(String name, Class<?>[] types, Object... arguments) throws ReflectiveOperationException {
        Method method = unsafe.getClass().getMethod(name, types);
        try {
            return method.invoke(unsafe, arguments);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(e.getCause());
        }
    }
}
