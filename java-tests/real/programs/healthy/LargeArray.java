// uses     -
// java     21
// largest  byte\[\]
package healthy;

/** A buffer of 64 MB that the program made on purpose. */
public final class LargeArray {
    static final byte[] FRAMES = new byte[64 << 20];

    public static void main(String[] args) {}
}
