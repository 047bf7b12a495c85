package planted.judge;

import harness.Tools;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What an answer must say, in whatever words. Written `name: kind words`:
 * <ul>
 * <li>`static CLASS FIELD` that static field, by its class and name
 * <li>`thread REGEX` a thread of this name, in quotation marks
 * <li>`count N|M CLASS...` so many objects, give or take three in a hundred, of one of these classes, beside its name
 * <li>`class CLASS...` one of these classes
 * <li>`number N|M` that number, as exact, and no amount of memory
 * <li>`bytes N REGEX` an amount of memory, in any unit, as exact as that, near words that match
 * <li>`line FILE MARK` the line of this source that has the mark, as frames have it
 * <li>`says REGEX` words that match
 * </ul>
 * With `since N` before the kind, dumps of older Java lack it.
 */
public final class Fact {
    private static final String NUMBER = "(?<![\\w.,$])(\\d[\\d,]*)(?![\\w.,$]*\\d)(?![\\w$])";
    private static final String BEFORE = NUMBER + "(?:[ |]+[\\d.,]+(?: ?(?:[kMG]i?B|bytes|%))?)?[ |]+(?:[a-z]+ ){0,3}\\W{0,3}";
    private static final String AFTER = "(?: objects| instances)?(?:[\"'`” (×:=]{1,4}|`? *\\| *)" + NUMBER;
    private static final String COUNTED = NUMBER + "(?! ?(?:[kKMG]i?B|bytes|%))";
    private static final Pattern AMOUNT = Pattern.compile("(?<![\\w.,$])(\\d[\\d,]*(?:\\.\\d+)?) ?(bytes|[kKMG]i?B)\\b");
    private static final Pattern WRITTEN = Pattern.compile("(\\S+): (?:since (\\d+) )?(\\S+) (.+)");
    private static final double TOLERANCE = 0.03;

    public final String name;
    /** The oldest Java whose dumps can have it. */
    final int since;
    private final Predicate<String> test;

    private Fact(String name, int since, Predicate<String> test) {
        this.name = name;
        this.since = since;
        this.test = test;
    }

    /** Whether the text says so. */
    public boolean isIn(String text) {
        return test.test(text);
    }

    /** As it is written above. */
    public static Fact of(String written) {
        Matcher parts = WRITTEN.matcher(written);
        if (!parts.matches()) {
            throw new IllegalArgumentException("no fact: " + written);
        }
        int since = parts.group(2) == null ? 0 : Integer.parseInt(parts.group(2));
        return new Fact(parts.group(1), since, test(parts.group(3), parts.group(4)));
    }

    private static Predicate<String> test(String kind, String words) {
        String[] two = words.split(" ", 2);
        switch (kind) {
            case "static":
                return staticField(name(two[0]), Pattern.quote(two[1]));
            case "thread":
                return Pattern.compile("[\"'`“]" + words + "[\"'`”]").asPredicate();
            case "count":
                return text -> Arrays.stream(two[1].split(" ")).anyMatch(type -> counts(two[0].split("\\|"), name(type), text));
            case "class":
                return text -> Arrays.stream(words.split(" ")).anyMatch(type -> Pattern.compile(name(type)).matcher(text).find());
            case "number":
                return text -> numbers(COUNTED, text).anyMatch(number -> isAny(words.split("\\|"), number));
            case "bytes":
                return text -> amounts(Long.parseLong(two[0]), Pattern.compile(two[1]), text);
            case "line":
                return Pattern.compile(Pattern.quote(two[0]) + ":" + Tools.line("planted/" + two[0], "// " + two[1]) + "\\b").asPredicate();
            case "says":
                return Pattern.compile(words).asPredicate();
            default:
                throw new IllegalArgumentException("no kind of fact: " + kind);
        }
    }

    /** A class, with its package or without, and no other class whose name begins or ends so. */
    private static String name(String type) {
        int dot = type.lastIndexOf('.') + 1;
        String owner = dot == 0 ? "" : "(?:" + Pattern.quote(type.substring(0, dot)) + ")?";
        return "(?<![\\w$.])" + owner + Pattern.quote(type.substring(dot)) + "(?![\\w$\\[])";
    }

    /** `Shop.CARTS`, "CARTS of class Shop" or "class Shop … CARTS". */
    private static Predicate<String> staticField(String type, String field) {
        return Pattern.compile(type + "[.#]" + field + "\\b|\\b" + field + "\\b[^\\n]{0,30}\\bclass\\W{0,3}" + type + "|" + type
                + "[^\\n]{0,60}\\b" + field + "\\b").asPredicate();
    }

    /** Whether one of these numbers stands before the class, perhaps with an amount and a few words between them, or right after it. */
    private static boolean counts(String[] wanted, String type, String text) {
        return Stream.of(BEFORE + type, type + AFTER).flatMap(order -> numbers(order, text)).anyMatch(number -> isAny(wanted, number));
    }

    private static Stream<Double> numbers(String pattern, String text) {
        return Pattern.compile(pattern).matcher(text).results().map(found -> Double.valueOf(found.group(1).replace(",", "")));
    }

    private static boolean isAny(String[] wanted, double number) {
        return Arrays.stream(wanted).anyMatch(each -> isAbout(Long.parseLong(each), number));
    }

    /** Whether an amount of so many bytes stands in a line with these words near it. */
    private static boolean amounts(long wanted, Pattern words, String text) {
        return AMOUNT.matcher(text).results().anyMatch(found -> bytes(found.group(1), found.group(2)).stream()
                .anyMatch(amount -> isAbout(wanted, amount))
                && words.matcher(before(text, found.start(), 80) + "|" + after(text, found.end(), 80)).find());
    }

    /** What an amount can mean: MB are a million bytes, or 1,048,576. */
    private static List<Double> bytes(String number, String unit) {
        double value = Double.parseDouble(number.replace(",", ""));
        int power = "bkmg".indexOf(unit.toLowerCase(Locale.ROOT).charAt(0));
        return List.of(value * Math.pow(1_000, power), value * Math.pow(1_024, power));
    }

    private static boolean isAbout(long wanted, double number) {
        return Math.abs(number - wanted) <= wanted * TOLERANCE;
    }

    private static String before(String text, int end, int most) {
        String before = text.substring(Math.max(0, end - most), end);
        return before.substring(before.lastIndexOf('\n') + 1);
    }

    private static String after(String text, int start, int most) {
        return text.substring(start, Math.min(text.length(), start + most)).split("\n", 2)[0];
    }
}
