// report  google/guice#756
// leaks   com.google.inject:guice:3.0
// mended  com.google.inject:guice:4.0
// java    8
// class   java.lang.String
// number  20000
// holder  WeakKeySet\b|PARENT\b|blacklistedKeys|InheritingState\b
// reason  (?i)differ only in|one for each|child injector
// change  take a version whose parent forgets the keys of children that are gone
package leaks;

import com.google.inject.AbstractModule;
import com.google.inject.Guice;
import com.google.inject.Injector;
import com.google.inject.name.Names;

public final class Guice756 {
    static final Injector PARENT = Guice.createInjector();

    public static void main(String[] args) {
        for (int i = 0; i < 200; i++) {
            int child = i;
            PARENT.createChildInjector(new AbstractModule() {
                @Override
                protected void configure() {
                    for (int key = 0; key < 100; key++) {
                        bindConstant().annotatedWith(Names.named("request-" + child + "-" + key)).to(key);
                    }
                }
            });
            System.gc();
        }
    }
}
