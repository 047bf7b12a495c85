package sites;

import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import subject.ClassBytes;
import subject.Definer;
import subject.FirstSample;
import subject.Say;

/**
 * A method is redefined again and again, and makes arrays of one type, then of the other; its old bytecode is freed. Prints how
 * many it made: {@code MADE type objects}. Then the same with a class whose loader gets another class of the same shape after each
 * redefinition: {@code BY class objects}. Its own agent, by a jar's manifest. Runs on Java 8.
 */
public final class Redefined {
    private static final int RUNS = 40;
    private static Instrumentation instrumentation;
    public static volatile Object sink;

    /** What is redefined. */
    public static final class Maker implements Runnable {
        @Override
        public void run() {
            sink = new int[3];
        }
    }

    public static void premain(String options, Instrumentation given) {
        instrumentation = given;
    }

    public static void main(String[] args) throws Exception {
        FirstSample.pass();
        byte[][] code = {ClassBytes.of(Maker.class), withLongs(ClassBytes.of(Maker.class))};
        int[] made = new int[code.length];
        Runnable maker = new Maker();
        int rounds = Integer.parseInt(args[0]);
        for (int round = 0; round < rounds; round++) {
            int type = round * 7 / 4 % 2;
            instrumentation.redefineClasses(new ClassDefinition(Maker.class, code[type]));
            for (int run = 0; run < RUNS; run++) {
                maker.run();
                made[type]++;
            }
            if (round % 3 == 2) {
                System.gc();
            }
        }
        Say.line("MADE", "int[]", made[0]);
        Say.line("MADE", "long[]", made[1]);
        neighbours();
        Say.ready();
    }

    /** The old bytecode of one is freed before each of the others comes. All run from the same place. */
    private static void neighbours() throws Exception {
        Definer loader = new Definer();
        byte[] code = Successors.named('A');
        Class<?> first = loader.define(code);
        Runnable maker = (Runnable) first.getConstructor().newInstance();
        int made = 0;
        char name = 'A';
        for (int round = 0; name < 'Z'; round++) {
            boolean isFirst = round % 4 != 3;
            Runnable runs = maker;
            if (isFirst) {
                instrumentation.redefineClasses(new ClassDefinition(first, code));
            } else {
                System.gc();
                name++;
                runs = (Runnable) loader.define(Successors.named(name)).getConstructor().newInstance();
                Say.line("BY", runs.getClass().getName(), RUNS);
            }
            for (int run = 0; run < RUNS; run++) {
                runs.run();
                made += isFirst ? 1 : 0;
            }
        }
        Say.line("BY", first.getName(), made);
    }

    /** The same class file, but it makes long[3]. */
    private static byte[] withLongs(byte[] code) {
        byte iconst3 = 6;
        byte newarray = (byte) 188;
        byte ofInt = 10;
        byte ofLong = 11;
        int found = 0;
        for (int i = 0; i + 2 < code.length; i++) {
            if (code[i] == iconst3 && code[i + 1] == newarray && code[i + 2] == ofInt) {
                code[i + 2] = ofLong;
                found++;
            }
        }
        if (found != 1) {
            throw new IllegalStateException(found + " arrays in the class file");
        }
        return code;
    }
}
