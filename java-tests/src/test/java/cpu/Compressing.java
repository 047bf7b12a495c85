package cpu;

import java.util.Random;
import java.util.zip.Adler32;
import java.util.zip.Deflater;
import subject.Say;

/** Most of its time is that of two functions of the library zlib, by way of native methods. */
public class Compressing {
    private static final byte[] TEXT = new byte[1 << 20];
    private static final byte[] SPACE = new byte[1 << 21];
    static volatile long sink;

    public static void main(String[] args) {
        Random random = new Random(1);
        for (int i = 0; i < TEXT.length; i++) {
            TEXT[i] = (byte) (i % 3 * random.nextInt(16));
        }
        long end = System.nanoTime() + Integer.parseInt(args[0]) * 100_000_000L;
        while (System.nanoTime() < end) {
            compress();
            sum();
        }
        Say.ready();
    }

    static void compress() {
        Deflater deflater = new Deflater(9);
        deflater.setInput(TEXT);
        deflater.finish();
        sink += deflater.deflate(SPACE);
        deflater.end();
    }

    static void sum() {
        Adler32 adler = new Adler32();
        for (int i = 0; i < 500; i++) {
            adler.update(TEXT, 0, TEXT.length);
        }
        sink += adler.getValue();
    }
}
