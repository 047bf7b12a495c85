package planted;

import java.util.HashMap;
import java.util.Map;

/** A static map that nobody removes from, and the line that fills it. */
@Leak(dump = "heap=all,sampling=0",
        first = {"holder: static planted.StaticMap$Shop CARTS", "objects: count 60000 planted.StaticMap$Basket",
            "site: line StaticMap.java allocates baskets"},
        screen = {"collection: says HashMap", "size: bytes 24300000 ."})
public final class StaticMap {
    static final class Shop {
        static final Map<Integer, Basket> CARTS = new HashMap<>();

        static void add(int customer) {
            Basket basket = new Basket(new long[40]); // allocates baskets
            CARTS.put(customer, basket);
        }
    }

    static final class Basket {
        final long[] articles;

        Basket(long[] articles) {
            this.articles = articles;
        }
    }

    public static void main(String[] args) {
        Service.fill(60_000, i -> Shop.add(i));
    }
}
