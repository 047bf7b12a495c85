package planted;

import clojure.lang.Atom;
import clojure.lang.PersistentHashMap;
import clojure.lang.PersistentVector;
import io.vavr.collection.HashMap;
import scala.collection.immutable.List;
import scala.collection.immutable.Nil$;

/** Collections that other languages of the JVM have, and Vavr's. */
final class Languages {
    private Languages() {}

    static final class Ticket {
        final byte[] text = new byte[300];
    }

    @Leak(jars = "scala-library",
            first = {"holder: static planted.Languages$ScalaMap TICKETS", "objects: count 70000 planted.Languages$Ticket",
            "map: says scala\\.collection\\.mutable\\.HashMap(?!\\$)"})
    public static final class ScalaMap {
        static final scala.collection.mutable.HashMap<String, Ticket> TICKETS = new scala.collection.mutable.HashMap<>();

        public static void main(String[] args) {
            Service.fill(70_000, i -> TICKETS.put("ticket " + i, new Ticket()));
        }
    }

    /** A list of cells, to whose head each new one is put. */
    @Leak(jars = "scala-library",
            first = {"holder: static planted.Languages$ScalaList tickets", "objects: count 70000 planted.Languages$Ticket",
            "list: says scala\\.collection\\.immutable\\.(?:List|\\$colon\\$colon|::)"})
    public static final class ScalaList {
        static List<Ticket> tickets;

        @SuppressWarnings("unchecked")
        public static void main(String[] args) {
            Service.start();
            tickets = (List<Ticket>) (List<?>) Nil$.MODULE$;
            for (int i = 0; i < 70_000; i++) {
                tickets = tickets.$colon$colon(new Ticket());
            }
            Service.ready();
        }
    }

    @Leak(jars = "kotlin-stdlib",
            first = {"holder: static planted.Languages$KotlinDeque TICKETS", "objects: count 70000 planted.Languages$Ticket",
            "deque: says kotlin\\.collections\\.ArrayDeque"})
    public static final class KotlinDeque {
        static final kotlin.collections.ArrayDeque<Ticket> TICKETS = new kotlin.collections.ArrayDeque<>();

        public static void main(String[] args) {
            Service.fill(70_000, i -> TICKETS.addLast(new Ticket()));
        }
    }

    /** A vector that an atom holds: a tree of arrays of 32. */
    @Leak(jars = {"clojure-", "spec.alpha", "core.specs"},
            first = {"holder: static planted.Languages$ClojureVector STATE", "objects: count 70000 planted.Languages$Ticket",
            "vector: says PersistentVector(?!\\$)"})
    public static final class ClojureVector {
        static final Atom STATE = new Atom(PersistentVector.EMPTY);

        public static void main(String[] args) {
            Service.fill(70_000, i -> STATE.reset(((PersistentVector) STATE.deref()).cons(new Ticket())));
        }
    }

    /** A map that an atom holds: a trie. */
    @Leak(jars = {"clojure-", "spec.alpha", "core.specs"},
            first = {"holder: static planted.Languages$ClojureMap STATE", "objects: count 70000 planted.Languages$Ticket",
            "map: says PersistentHashMap(?!\\$)"})
    public static final class ClojureMap {
        static final Atom STATE = new Atom(PersistentHashMap.EMPTY);

        public static void main(String[] args) {
            Service.fill(70_000, i -> STATE.reset(((PersistentHashMap) STATE.deref()).assoc("ticket " + i, new Ticket())));
        }
    }

    @Leak(jars = "vavr-0",
            first = {"holder: static planted.Languages$VavrMap tickets", "objects: count 70000 planted.Languages$Ticket",
            "map: says io\\.vavr\\.collection\\.HashMap(?!\\$)"})
    public static final class VavrMap {
        static HashMap<String, Ticket> tickets = HashMap.empty();

        public static void main(String[] args) {
            Service.fill(70_000, i -> tickets = tickets.put("ticket " + i, new Ticket()));
        }
    }
}
