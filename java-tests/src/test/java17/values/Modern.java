package values;

import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.List;
import subject.Say;

/** Records, sealed types, enums with bodies, nest mates and hidden classes. */
public class Modern {
    record Point(int x, long y, String label) {
        static int count = 5;
    }

    sealed interface Shape permits Circle, Square {}

    record Circle(double radius) implements Shape {}

    record Square(Point corner, float[] sides) implements Shape {}

    enum Level {
        LOW(-1), HIGH(Integer.MAX_VALUE) {
            @Override
            int twice() {
                return 0;
            }
        };

        final int height;

        Level(int height) {
            this.height = height;
        }

        int twice() {
            return 2 * height;
        }
    }

    /** Defined anew as a hidden class. */
    public static class Template {
        static int number = 17;
        long big = 42;
    }

    static final List<Object> KEPT = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        KEPT.add(new Point(Integer.MIN_VALUE, Long.MAX_VALUE, "p\u00f6int"));
        KEPT.add(new Circle(Double.NaN));
        KEPT.add(new Square(null, new float[] {1.5f, -0.0f}));
        KEPT.add(Level.HIGH);
        for (Object object : KEPT) {
            Say.fields(object);
            Say.expect(1, object.getClass());
        }
        Say.statics(Point.class);

        byte[] bytes;
        try (InputStream stream = Modern.class.getResourceAsStream("Modern$Template.class")) {
            bytes = stream.readAllBytes();
        }
        for (int i = 0; i < 3; i++) {
            Class<?> hidden = MethodHandles.lookup().defineHiddenClass(bytes, true).lookupClass();
            for (int n = 0; n <= i; n++) {
                KEPT.add(hidden.getConstructor().newInstance());
            }
        }
        Say.line("HIDDEN", 3, 6, "values.Modern$Template");
        Say.ready();
    }
}
