package same;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names of the classes that Java 11 calls VM anonymous, those of lambdas and lambda forms: many have the same, so JVMTI
 * appends the hash code of the class object.
 */
final class AnonymousNames {
    private static final Pattern HASHED =
            Pattern.compile("(.+\\$\\$Lambda\\$\\d+|java\\.lang\\.invoke\\.LambdaForm\\$(?:MH|DMH|BMH|LFI))\\.[1-9]\\d*");

    private AnonymousNames() {}

    /** The name without the hash code; any other name as it is. */
    static String plain(String name) {
        Matcher matcher = HASHED.matcher(name);
        return matcher.matches() ? matcher.group(1) : name;
    }
}
