package harness;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A test whose cases run beside each other and beside other tests of their class, as they wait or use one processor. */
@Execution(ExecutionMode.CONCURRENT)
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Beside {}
