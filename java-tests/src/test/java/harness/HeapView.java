package harness;

import java.util.Set;

/**
 * A judge that also sees values. They are given as subjects print them: numbers in decimal, chars as numbers,
 * strings quoted, arrays with their elements, other objects as `@` and their class.
 */
public interface HeapView extends Judge, AutoCloseable {
    String staticField(String className, String field);

    /** A field of the one instance of a class; `declaring` distinguishes shadowed fields. */
    String field(String className, String declaring, String field);

    /** The contents of all strings. */
    Set<String> strings();

    /** How this reader shows a value, where it is known to blur it. */
    default String blurred(String value) {
        return value;
    }

    @Override
    void close();
}
