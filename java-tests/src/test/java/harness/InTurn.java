package harness;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A test that keeps both processors busy for seconds: `make test` runs it after every third commit, chosen by its name, and
 * `make test-all` always. The value says which test of every run looks at the same code.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface InTurn {
    /** Commits in which each has its turn once. */
    int COMMITS = 3;

    String value();
}
