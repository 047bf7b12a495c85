package planted;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** Who subscribes and never unsubscribes. */
final class Listeners {
    private Listeners() {}

    static final class EventBus {
        final List<Consumer<String>> subscribers = new ArrayList<>();
        final List<Listener> listeners = new CopyOnWriteArrayList<>();
    }

    interface Listener {
        void heard(String event);
    }

    /** A window of a program, whose lambda the bus keeps. */
    static final class View {
        final int[] pixels = new int[200];

        void subscribe(EventBus bus) {
            bus.subscribers.add(event -> pixels[0]++);
        }
    }

    /** Lambdas that capture the view that made them. */
    @Leak(first = {"holder: static planted.Listeners$Lambdas BUS", "objects: count 30000 planted.Listeners$View"},
            screen = {"field: says \\bsubscribers\\b", "lambda: says (?i)lambda"})
    public static final class Lambdas {
        static final EventBus BUS = new EventBus();

        public static void main(String[] args) {
            Service.fill(30_000, i -> new View().subscribe(BUS));
        }
    }

    static final class Panel implements Listener {
        final byte[] picture = new byte[10_000];

        @Override
        public void heard(String event) {
            picture[0]++;
        }
    }

    /** Listeners that are classes of their own, in a list that is copied on each change. */
    @Leak(first = {"holder: static planted.Listeners$Classes BUS", "objects: count 2500 planted.Listeners$Panel"},
            screen = {"field: says \\blisteners\\b", "collection: says CopyOnWriteArrayList"})
    public static final class Classes {
        static final EventBus BUS = new EventBus();

        public static void main(String[] args) {
            Service.fill(2_500, i -> BUS.listeners.add(new Panel()));
        }
    }

    /** An object of an inner class keeps the outer one, with all that the outer one has. */
    @Leak(first = {"holder: static planted.Listeners$InnerClass RETRIES",
            "objects: count 9000 planted.Listeners$Upload planted.Listeners$Upload$Retry"},
            screen = {"outer: count 9000 planted.Listeners$Upload", "field: says this\\$0|outer"})
    public static final class InnerClass {
        static final List<Runnable> RETRIES = new ArrayList<>();

        public static void main(String[] args) {
            Service.fill(9_000, i -> RETRIES.add(new Upload().retry()));
        }
    }

    static final class Upload {
        private final byte[] body = new byte[3_000];
        private int tries;

        Runnable retry() {
            return new Retry();
        }

        final class Retry implements Runnable {
            @Override
            public void run() {
                tries += body.length;
            }
        }
    }
}
