package harness;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The Java escapes in which subjects and bench write down what is not printable ASCII. */
public final class Escapes {
    private static final Pattern ESCAPE = Pattern.compile("\\\\u([0-9a-f]{4})");

    private Escapes() {}

    /** The text without the escapes. */
    public static String undo(String escaped) {
        Matcher matcher = ESCAPE.matcher(escaped);
        StringBuilder text = new StringBuilder();
        int end = 0;
        while (matcher.find()) {
            text.append(escaped, end, matcher.start()).append((char) Integer.parseInt(matcher.group(1), 16));
            end = matcher.end();
        }
        return text.append(escaped, end, escaped.length()).toString();
    }
}
