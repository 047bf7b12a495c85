package sites;

import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import subject.ClassBytes;
import subject.FirstSample;
import subject.Say;

/**
 * A method is redefined again and again, and makes arrays of one type, then of the other; its old bytecode is freed. Says how
 * many it made: {@code MADE type objects}. Its own agent, by a jar's manifest. Runs on Java 8.
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
        Say.ready();
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
