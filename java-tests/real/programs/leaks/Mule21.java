// report  mulesoft/mule#21
// leaks   org.springframework:spring-beans:5.3.39
// mended  use: one name for the class of bean
// java    17
// class   java.lang.String org.springframework.beans.factory.support.RootBeanDefinition
// number  40000
// holder  alreadyCreated|mergedBeanDefinitions|DefaultListableBeanFactory\b
// reason  (?i)differ only in|transformer-|names made|one for each
// change  give prototypes no new name for each use
package leaks;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;

/** A bean with a new name for each message, taken away again. */
public final class Mule21 {
    static final DefaultListableBeanFactory BEANS = new DefaultListableBeanFactory();

    public static final class Transformer {}

    public static void main(String[] args) {
        for (int i = 0; i < 40_000; i++) {
            String name = args.length > 0 ? "transformer" : "transformer-" + i;
            BEANS.registerBeanDefinition(name, new RootBeanDefinition(Transformer.class));
            BEANS.getBean(name);
            BEANS.removeBeanDefinition(name);
        }
    }
}
