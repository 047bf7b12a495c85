package same;

import java.util.regex.Pattern;

/** Names of the classes that Java 11 calls VM anonymous, those of lambdas and lambda forms. */
final class AnonymousNames {
    private static final Pattern NAMES =
            Pattern.compile(".+\\$\\$Lambda\\$\\d+|java\\.lang\\.invoke\\.LambdaForm\\$(?:MH|DMH|BMH|LFI)");

    private AnonymousNames() {}

    static boolean has(String name) {
        return NAMES.matcher(name).matches();
    }
}
