package sites;

import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import subject.ClassBytes;
import subject.Definer;
import subject.FirstSample;
import subject.Say;

/**
 * Classes of the same shape under other names come after each other, so that the next one's bytecode lies where that of one before
 * has lain. Prints how many objects each made: {@code MADE class objects}. Runs on Java 8.
 *
 * <pre>
 * Successors ROUNDS loaded     each with a loader of its own
 * Successors ROUNDS hidden     each a hidden class, which there are since Java 15
 * </pre>
 */
public final class Successors {
    private static final int NAMES = 26;
    private static final int RUNS = 40;
    public static volatile Object sink;

    /** What the classes are copies of: the last letter of the name is theirs. */
    public static final class MakerA implements Runnable {
        @Override
        public void run() {
            sink = new int[3];
        }
    }

    public static void main(String[] args) throws Exception {
        FirstSample.pass();
        int[] made = new int[NAMES];
        int rounds = Integer.parseInt(args[0]);
        boolean isHidden = args[1].equals("hidden");
        for (int round = 0; round < rounds; round++) {
            int name = round * 7 % NAMES;
            byte[] code = named((char) ('A' + name));
            Class<?> type = isHidden ? hidden(code) : new Definer().define(code);
            Runnable maker = (Runnable) type.getConstructor().newInstance();
            for (int run = 0; run < RUNS; run++) {
                maker.run();
                made[name]++;
            }
            if (round % 10 == 9) {
                type = null;
                maker = null;
                System.gc();
            }
        }
        for (int name = 0; name < NAMES; name++) {
            Say.line("MADE", MakerA.class.getName().replace("MakerA", "Maker" + (char) ('A' + name)), made[name]);
        }
        Say.ready();
    }

    private static Class<?> hidden(byte[] code) throws ReflectiveOperationException {
        for (Method define : MethodHandles.Lookup.class.getMethods()) {
            if (define.getName().equals("defineHiddenClass")) {
                Object options = Array.newInstance(define.getParameterTypes()[2].getComponentType(), 0);
                return ((MethodHandles.Lookup) define.invoke(MethodHandles.lookup(), code, true, options)).lookupClass();
            }
        }
        throw new UnsupportedOperationException("no hidden classes before Java 15");
    }

    /** The class file of the class whose name ends with this letter. */
    static byte[] named(char letter) {
        byte[] named = ClassBytes.of(MakerA.class);
        byte[] maker = {'M', 'a', 'k', 'e', 'r'};
        for (int i = 0; i + maker.length < named.length; i++) {
            int same = 0;
            while (same < maker.length && named[i + same] == maker[same]) {
                same++;
            }
            if (same == maker.length) {
                named[i + same] = (byte) letter;
            }
        }
        return named;
    }
}
