package rewriting;

import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.mockStatic;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import org.mockito.MockedStatic;
import subject.Say;

/** Uses Mockito as tests do: it changes the classes that it mocks, and those above them up to Object. Runs on Java 11. */
public final class Mocking {
    private Mocking() {}

    static final class Prices {
        int of(String what) {
            return what.length();
        }

        static int tax() {
            return 7;
        }
    }

    public static void main(String[] args) {
        Prices prices = mock(Prices.class);
        when(prices.of("tea")).thenReturn(42);
        Say.line("TEA", prices.of("tea"), prices.of("coffee"));
        verify(prices, times(1)).of("coffee");
        try (MockedStatic<Prices> statics = mockStatic(Prices.class)) {
            statics.when(Prices::tax).thenReturn(19);
            Say.line("TAX", Prices.tax());
        }
        Say.line("REAL", new Prices().of("milk"), Prices.tax());
    }
}
