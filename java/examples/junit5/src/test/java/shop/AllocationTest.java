package shop;

import static hprofrs.junit.HeapAssertions.assertThat;
import static hprofrs.junit.HeapAssertions.heap;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** In a JVM that was started with the agent, a message also has the stack that allocated what leaks. */
class AllocationTest {
    @AfterEach
    void forget() {
        Shop.UNPAID.clear();
    }

    @Test
    void theMessageOfALeakHasTheLineThatAllocatedIt() {
        Shop.visit(false);
        AssertionError error =
                assertThrows(AssertionError.class, () -> assertThat(heap()).retains(Session.class).instances(0));
        String message = error.getMessage();
        assertTrue(message.contains("\n  allocated:\n    at shop.Shop.visit(Shop.java:13)\n"), message);
        assertTrue(message.contains("AllocationTest.java:20)"), message);
    }
}
