package harness;

import java.util.regex.Pattern;

/** Class names as Java source writes them (`int[]`, `java.lang.String[]`), whatever form a reader gives. */
final class Names {
    /** What HotSpot appends to the names of lambdas' classes up to Java 17: a number, or in its own dumps of 8 nothing. */
    private static final Pattern LAMBDA = Pattern.compile("(?<=\\$\\$Lambda\\$\\d{1,6})[/+.](0x)?[0-9a-f]+(?=(\\[])*$)");

    /** What it appends to those of hidden classes: an address, here '/', there '+' or '.' before it. */
    private static final Pattern HIDDEN = Pattern.compile("[/+.]0x[0-9a-f]+(?=(\\[])*$)");

    private Names() {}

    /** From `[I`, `[Ljava/lang/String;`, `java/lang/String` or a source form. */
    static String source(String name) {
        int depth = 0;
        while (name.startsWith("[", depth)) {
            depth++;
        }
        String element = depth == 0 ? name : element(name.substring(depth));
        String plain = HIDDEN.matcher(LAMBDA.matcher(element).replaceAll("")).replaceAll("+hidden");
        StringBuilder source = new StringBuilder(plain.replace('/', '.'));
        for (int i = 0; i < depth; i++) {
            source.append("[]");
        }
        return source.toString();
    }

    private static String element(String descriptor) {
        switch (descriptor.charAt(0)) {
            case 'Z': return "boolean";
            case 'C': return "char";
            case 'F': return "float";
            case 'D': return "double";
            case 'B': return "byte";
            case 'S': return "short";
            case 'I': return "int";
            case 'J': return "long";
            default: return descriptor.substring(1, descriptor.length() - 1);
        }
    }
}
