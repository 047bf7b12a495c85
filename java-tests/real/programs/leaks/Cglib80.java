// report  cglib/cglib#80
// leaks   cglib:cglib:3.2.2
// mended  cglib:cglib:3.2.4
// java    8
// class   leaks.Cglib80$Sample$$EnhancerByCGLIB java.lang.Class
// number  2000
// holder  AppClassLoader|class loader|AbstractClassGenerator|ClassLoaderData\b
// reason  (?i)generated|made at run ?time|classes of (one|the same) (pattern|name)|differ only in|same filter
// change  take a version whose classes keep the filter of their key, or keep the filter in a static field
package leaks;

import java.lang.reflect.Method;
import net.sf.cglib.proxy.CallbackFilter;
import net.sf.cglib.proxy.Enhancer;
import net.sf.cglib.proxy.NoOp;

/** A proxy now and then; between two of them the garbage is collected. */
public final class Cglib80 {
    public static class Sample {}

    static final class All implements CallbackFilter {
        @Override
        public int accept(Method method) {
            return 0;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof All;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 2000; i++) {
            Enhancer enhancer = new Enhancer();
            enhancer.setSuperclass(Sample.class);
            enhancer.setCallbackFilter(new All());
            enhancer.setCallback(NoOp.INSTANCE);
            enhancer.create();
            System.gc();
        }
    }
}
