package lifecycle;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.Deque;
import subject.Definer;
import subject.Say;

/** Never stops to define a class anew, by a new loader, and to have it make arrays, so that stacks of allocations name new classes. */
public class Loading {
    private static final Deque<Object> RECENT = new ArrayDeque<>();
    private static final int MOST = 100;
    private static final int ARRAYS = 200;
    private static final int ARRAY_BYTES = 1000;

    /** What is defined. */
    public static class Made {
        public static Object make() {
            byte[][] arrays = new byte[ARRAYS][];
            for (int i = 0; i < ARRAYS; i++) {
                arrays[i] = new byte[ARRAY_BYTES];
            }
            return arrays;
        }
    }

    static volatile boolean going = true;

    public static void main(String[] args) throws Exception {
        byte[] made = bytes();
        Thread thread = new Thread(() -> define(made), "loading");
        thread.start();
        Say.ready();
        going = false;
        thread.join();
    }

    private static void define(byte[] made) {
        try {
            while (going) {
                Method make = new Definer().define(made).getMethod("make");
                RECENT.add(make.invoke(null));
                if (RECENT.size() > MOST) {
                    RECENT.remove();
                }
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] bytes() throws IOException {
        try (InputStream in = Loading.class.getResourceAsStream("Loading$Made.class")) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] piece = new byte[4096];
            for (int read = in.read(piece); read >= 0; read = in.read(piece)) {
                out.write(piece, 0, read);
            }
            return out.toByteArray();
        }
    }
}
