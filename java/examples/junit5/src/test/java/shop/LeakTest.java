package shop;

import static hprofrs.junit.HeapAssertions.assertThat;
import static hprofrs.junit.HeapAssertions.heap;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Counts what the heap retains; a message has the path to it. */
class LeakTest {
    @AfterEach
    void forget() {
        Shop.UNPAID.clear();
    }

    @Test
    void whatIsPaidIsForgotten() {
        Shop.visit(true);
        assertThat(heap()).retains(Session.class).instances(0);
    }

    @Test
    void theMessageOfALeakHasThePathToItsRoot() {
        Shop.visit(false);
        Shop.visit(false);
        AssertionError error =
                assertThrows(AssertionError.class, () -> assertThat(heap()).retains(Session.class).instances(0));
        String message = error.getMessage();
        assertTrue(message.startsWith("shop.Session: expected 0, but the heap retains 2\n"), message);
        assertTrue(message.contains("class shop.Shop\n"), message);
        assertTrue(message.contains(".UNPAID (static)"), message);
    }

    @Test
    void instancesAreCounted() {
        for (int i = 0; i < 1000; i++) {
            Shop.visit(false);
        }
        assertThat(heap()).retains(Session.class).instances(1000).atMost(1000);
        assertThat(heap()).retains(Session[].class).instances(0);
        assertThrows(AssertionError.class, () -> assertThat(heap()).retains(Session.class).atMost(999));
    }

    @Test
    void aTypeThatNoObjectHasIsRefused() {
        for (Class<?> type : new Class<?>[] {Runnable.class, Number.class, int.class}) {
            assertThrows(IllegalArgumentException.class, () -> assertThat(heap()).retains(type), type.getName());
        }
    }

    @Test
    void weakAndSoftReferencesRetainNothing() {
        WeakReference<Session> weak = new WeakReference<>(new Session());
        SoftReference<Session> soft = new SoftReference<>(new Session());
        assertThat(heap()).retains(Session.class).instances(0);
        assertTrue(weak != null && soft != null);
    }
}
