package modes;

/** A class whose static initialiser makes something and then throws. */
public class Broken {
    static final int[] MADE = new int[2];

    static {
        if (MADE.length == 2) {
            throw new IllegalStateException("as it should");
        }
    }
}
