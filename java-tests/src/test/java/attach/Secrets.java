package attach;

import subject.Say;

/** Holds secret texts and numbers; none of them stands in a class file. */
public class Secrets {
    static final String TEXT = text('s');
    static final long STATIC = number(3);
    final long field = number(5);
    final byte[] bytes = text('b').getBytes();
    final long[] numbers = {number(7)};
    static final Secrets KEPT = new Secrets();

    /** Thirty letters that no name has. */
    static String text(char letter) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 10; i++) {
            text.append(letter).append("Zq");
        }
        return text.toString();
    }

    static long number(long seed) {
        return seed * 0x0102_0408_1020_4081L;
    }

    public static void main(String[] args) {
        Say.ready();
    }
}
