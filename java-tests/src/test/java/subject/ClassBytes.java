package subject;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/** A class as its file has it. */
public final class ClassBytes {
    private ClassBytes() {}

    /** The file of a class that was loaded from one. */
    public static byte[] of(Class<?> type) {
        String name = type.getName().substring(type.getName().lastIndexOf('.') + 1) + ".class";
        try (InputStream in = type.getResourceAsStream(name)) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            for (int next = in.read(); next >= 0; next = in.read()) {
                bytes.write(next);
            }
            return bytes.toByteArray();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
