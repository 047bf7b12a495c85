package planted;

/** Lists that an application has written itself. */
final class OwnLists {
    private OwnLists() {}

    /** A singly linked list of what happened. */
    static final class Journal {
        static Entry first;

        static final class Entry {
            final byte[] text = new byte[100];
            Entry next;
        }
    }

    @Leak(first = {"holder: static planted.OwnLists$Journal first", "objects: count 200000 planted.OwnLists$Journal$Entry"},
            screen = {"link: says \\bnext\\b"})
    public static final class Singly {
        public static void main(String[] args) {
            Service.start();
            for (int i = 0; i < 200_000; i++) {
                Journal.Entry entry = new Journal.Entry();
                entry.next = Journal.first;
                Journal.first = entry;
            }
            Service.ready();
        }
    }

    /** A list with both ends, linked both ways, as caches by age have it. */
    static final class History {
        Step oldest;
        Step newest;

        void add() {
            Step step = new Step();
            step.before = newest;
            if (newest == null) {
                oldest = step;
            } else {
                newest.after = step;
            }
            newest = step;
        }

        static final class Step {
            final long[] places = new long[16];
            Step before;
            Step after;
        }
    }

    @Leak(first = {"holder: static planted.OwnLists$Doubly EDITOR", "list: says History(?!\\$)",
            "objects: count 150000 planted.OwnLists$History$Step"})
    public static final class Doubly {
        static final History EDITOR = new History();

        public static void main(String[] args) {
            Service.fill(150_000, i -> EDITOR.add());
        }
    }
}
