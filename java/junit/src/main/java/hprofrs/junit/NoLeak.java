package hprofrs.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * After the test, and after its {@code @AfterEach}, the heap retains no more instances of these classes than before it.
 * On a class, this holds for each of its tests. What the test's own fields refer to is retained.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
@ExtendWith(NoLeakExtension.class)
public @interface NoLeak {
    /** Exactly these classes, not their subclasses. */
    Class<?>[] value();
}
