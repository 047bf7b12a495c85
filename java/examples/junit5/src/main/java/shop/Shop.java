package shop;

import java.util.ArrayList;
import java.util.List;

/** Opens sessions and closes them, but remembers those that were never paid. */
final class Shop {
    static final List<Session> UNPAID = new ArrayList<>();

    private Shop() {}

    static void visit(boolean isPaid) {
        Session session = new Session();
        if (!isPaid) {
            UNPAID.add(session);
        }
    }
}
