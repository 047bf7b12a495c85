package harness;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.provider.ArgumentsSource;

/** The rows of arguments of a parameterised test: those of a static method of its class, or of `a.Class#method`, of which {@link Matrix} takes some. */
@ArgumentsSource(RowsProvider.class)
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Rows {
    String value();
}
