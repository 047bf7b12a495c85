package roots;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/** Loads {@link Apart} and its bodies anew; a thread that asks for another class of that file stops. */
final class ApartLoader extends ClassLoader {
    private final Stop stop;

    ApartLoader(Stop stop) {
        super(ApartLoader.class.getClassLoader());
        this.stop = stop;
    }

    /** The body of this name, of a new loader. */
    static Places.Body body(String name, Stop stop) {
        try {
            return (Places.Body) new ApartLoader(stop).loadClass(name).getConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (name.equals("roots.Apart$Callee") || name.equals("roots.Apart$Caught")) {
            stop.here();
        }
        if (!name.equals("roots.Apart") && !name.startsWith("roots.Apart$")) {
            return super.loadClass(name, resolve);
        }
        byte[] bytes = bytes(name);
        return defineClass(name, bytes, 0, bytes.length);
    }

    static byte[] bytes(String name) {
        String file = "/" + name.replace('.', '/') + ".class";
        try (InputStream in = ApartLoader.class.getResourceAsStream(file)) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            byte[] part = new byte[8192];
            for (int count = in.read(part); count > 0; count = in.read(part)) {
                bytes.write(part, 0, count);
            }
            return bytes.toByteArray();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
