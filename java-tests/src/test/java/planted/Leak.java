package planted;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A program that leaks, and what a good answer says of its dump: the facts that a developer needs, whatever the words. What
 * a fact can be is in judge/Fact.java.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Leak {
    /** Facts for the first sentence, and so for the first screen. */
    String[] first();

    /** Facts for the first screen alone. */
    String[] screen() default {};

    /** The oldest Java that the program runs on. */
    int since() default 8;

    /** Which dump the agent makes: without allocation sites, or `heap=all`. */
    String dump() default "heap=dump";

    /** The C file of a native library, which the program finds as the property `planted.library`; none if empty. */
    String library() default "";

    /** The libraries that the program needs besides the JDK, by the beginnings of their jars' names. */
    String[] jars() default {};
}
