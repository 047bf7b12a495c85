package hprofrs.junit;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.platform.commons.support.AnnotationSupport;

/** Counts before and after a test. */
final class NoLeakExtension implements BeforeEachCallback, AfterEachCallback {
    private static final Namespace NAMESPACE = Namespace.create(NoLeakExtension.class);

    @Override
    public void beforeEach(ExtensionContext test) {
        Map<Class<?>, Long> before = new HashMap<>();
        for (Class<?> type : watched(test)) {
            before.put(type, HeapAssertions.heap().instances(type).count());
        }
        test.getStore(NAMESPACE).put(NoLeak.class, before);
    }

    @Override
    public void afterEach(ExtensionContext test) {
        // What a failed test holds is no leak.
        if (test.getExecutionException().isPresent()) {
            return;
        }
        Map<?, ?> before = test.getStore(NAMESPACE).get(NoLeak.class, Map.class);
        for (Class<?> type : watched(test)) {
            HeapAssertions.assertThat(HeapAssertions.heap()).retains(type).noMoreThanBefore((Long) before.get(type));
        }
    }

    /** The classes that the method names, or else its class. */
    private static Class<?>[] watched(ExtensionContext test) {
        Optional<NoLeak> named = AnnotationSupport.findAnnotation(test.getElement(), NoLeak.class);
        if (!named.isPresent()) {
            named = AnnotationSupport.findAnnotation(test.getRequiredTestClass(), NoLeak.class);
        }
        return named.map(NoLeak::value).orElseGet(() -> new Class<?>[0]);
    }
}
