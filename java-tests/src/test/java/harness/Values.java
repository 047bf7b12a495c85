package harness;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collection;
import java.util.Locale;
import java.util.stream.Collectors;

/** How values are written down, the same for all readers and for the subjects. */
final class Values {
    private Values() {}

    /** Printable ASCII stays, all else becomes a Java escape. */
    static String escape(String text) {
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

    static String quoted(String text) {
        return '"' + escape(text) + '"';
    }

    static String array(String className, Collection<String> elements) {
        return className + elements.stream().collect(Collectors.joining(",", "{", "}"));
    }

    /** The text of a string from its bytes: Latin-1 (coder 0) or UTF-16. */
    static String text(byte[] bytes, byte coder) {
        char[] chars = new char[coder == 0 ? bytes.length : bytes.length / 2];
        if (coder == 0) {
            for (int i = 0; i < bytes.length; i++) {
                chars[i] = (char) (bytes[i] & 0xff);
            }
        } else {
            // Java keeps UTF-16 in the byte order of the machine, and dumps were taken on this one.
            ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).asCharBuffer().get(chars);
        }
        return new String(chars);
    }
}
