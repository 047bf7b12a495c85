package leaks;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import subject.Say;

/** Wastes memory in known ways, and prints how. */
public class Wasteful {
    static final int COUNT = 700;

    /** Of its objects each has its own copy of the same text, its own empty list, a set with one element and a number. */
    static class Customer {
        final String country = new String(new char[] {'p', 'l', 'a', 'n', 't', 'e', 'd', '-', 't', 'e', 'x', 't'});
        final List<Object> orders = new ArrayList<>(20);
        final Set<Object> roles = new HashSet<>();
        final Map<Object, Object> settings = new HashMap<>(1000);
        final Long number;
        final int[] codes = {3, 1, 4, 1, 5, 9};

        Customer(long number) {
            this.number = number;
            roles.add(this);
            settings.put("a", this);
            settings.put("b", this);
        }
    }

    static final Customer[] CUSTOMERS = new Customer[COUNT];

    public static void main(String[] args) {
        for (int i = 0; i < COUNT; i++) {
            CUSTOMERS[i] = new Customer(1_000_000_000_000L + i);
        }
        Say.line("COUNT", COUNT);
        Say.ready();
    }
}
