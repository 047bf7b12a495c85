package harness;

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.support.AnnotationConsumer;
import org.junit.platform.commons.support.ReflectionSupport;

/** Gives a parameterised test the rows that are run now. */
class RowsProvider implements ArgumentsProvider, AnnotationConsumer<Rows> {
    private String source;

    @Override
    public void accept(Rows rows) {
        source = rows.value();
    }

    @Override
    public Stream<? extends Arguments> provideArguments(ExtensionContext context) throws ReflectiveOperationException {
        List<Arguments> rows = Matrix.current().of(context.getRequiredTestMethod(), all(context.getRequiredTestClass()));
        Assumptions.assumeFalse(rows.isEmpty(), "make test has run all rows");
        return rows.stream();
    }

    private List<Arguments> all(Class<?> test) throws ReflectiveOperationException {
        String[] names = source.split("#");
        Class<?> owner = names.length == 2 ? Class.forName(names[0]) : test;
        String name = names[names.length - 1];
        Method method = ReflectionSupport.findMethod(owner, name).orElseThrow(() -> new NoSuchMethodException(owner + " has no " + name));
        method.setAccessible(true);
        Object rows = method.invoke(null);
        Stream<?> each = rows instanceof Collection ? ((Collection<?>) rows).stream() : (Stream<?>) rows;
        return each.map(row -> row instanceof Arguments ? (Arguments) row : Arguments.of(row)).collect(Collectors.toList());
    }
}
