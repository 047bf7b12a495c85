package subject;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Locale;

/** How a subject prints for the bench what it knows about its own heap, one line a fact, and then waits. Runs on Java 8. */
public final class Say {
    private static final BufferedReader INPUT = new BufferedReader(new InputStreamReader(System.in));

    private Say() {}

    /** There are exactly this many instances of a class. */
    public static void expect(long count, Class<?> type) {
        line("EXPECT", count, type.getTypeName());
    }

    /** There are this many instances or more: the JDK has some of its own. */
    public static void atLeast(long count, Class<?> type) {
        line("ATLEAST", count, type.getTypeName());
    }

    /** There is a string of this content. */
    public static void string(String text) {
        line("STRING", escape(text));
    }

    /** The values of all static fields of a class. */
    public static void statics(Class<?> type) {
        for (Field field : type.getDeclaredFields()) {
            if (Modifier.isStatic(field.getModifiers()) && !field.isSynthetic()) {
                line("STATIC", type.getName(), field.getName(), value(field, null));
            }
        }
    }

    /** The values of all fields, but those of the JDK, of an object that is alone of its class. */
    public static void fields(Object object) {
        for (Class<?> type = object.getClass(); !type.getName().startsWith("java."); type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers()) && !field.isSynthetic()) {
                    line("FIELD", object.getClass().getName(), type.getName(), field.getName(), value(field, object));
                }
            }
        }
    }

    /** A fact of any other kind. */
    public static void line(Object... words) {
        StringBuilder line = new StringBuilder();
        for (Object word : words) {
            line.append(line.length() == 0 ? "" : " ").append(word);
        }
        System.out.println(line);
    }

    /** All is printed and built: waits for the bench's next word. */
    public static String ready() {
        System.out.println("READY");
        return hear();
    }

    /** Waits for the bench's next word; a bench that is gone means to exit. */
    public static String hear() {
        try {
            String word = INPUT.readLine();
            return word == null ? "exit" : word;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String value(Field field, Object object) {
        try {
            field.setAccessible(true);
            Object value = field.get(object);
            return field.getType().isPrimitive() ? primitive(value) : value(value);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String value(Object value) {
        if (value == null) {
            return "null";
        } else if (value instanceof String) {
            return '"' + escape((String) value) + '"';
        } else if (value.getClass().isArray()) {
            return array(value);
        }
        return "@" + value.getClass().getTypeName();
    }

    private static String array(Object array) {
        StringBuilder text = new StringBuilder(array.getClass().getTypeName()).append('{');
        for (int i = 0; i < Array.getLength(array); i++) {
            Object element = Array.get(array, i);
            boolean isPrimitive = array.getClass().getComponentType().isPrimitive();
            text.append(i == 0 ? "" : ",").append(isPrimitive ? primitive(element) : value(element));
        }
        return text.append('}').toString();
    }

    private static String primitive(Object boxed) {
        return boxed instanceof Character ? "" + (int) (Character) boxed : boxed.toString();
    }

    /** Printable ASCII stays, all else becomes a Java escape. */
    public static String escape(String text) {
        StringBuilder escaped = new StringBuilder();
        for (char c : text.toCharArray()) {
            if (c > ' ' && c < 0x7f && c != '\\' && c != '"') {
                escaped.append(c);
            } else {
                escaped.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            }
        }
        return escaped.toString();
    }
}
