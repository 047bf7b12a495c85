package same;

/** Why a difference to HotSpot's own dump is right; what a rule lets pass is counted under its name. */
enum Rule {
    /** HotSpot's `-all` lists garbage too: what neither its roots nor its classes lead to need not be in ours. */
    UNREACHABLE("only HotSpot's dump has it, and nothing there leads to it"),

    /**
     * Some of those are alive all the same. JVMTI and HotSpot's dump hide the JVM's own threads, with all that they hold,
     * and the main class's name, which the launcher holds. Counted by class: how many more survive a collection than ours
     * has.
     */
    UNSEEN_LIFE("alive though nothing in HotSpot's dump leads to it, and not in ours"),

    /** The requests for the dumps make objects, ours also links and loads classes; only the later dump has them. */
    CREATED_BETWEEN("only the later dump has it"),

    /** In the earlier dump the collector's filler is where an object of the later one is: room that was not used up yet. */
    FILLER("a filler in the earlier dump, and nothing there leads to it"),

    /** A class object of an archived class that was never loaded: HotSpot's dump has references to it and no record. */
    NEVER_LOADED("HotSpot wrote its id and no record, as it is an archived class that was never loaded"),

    /** The same, if ours has no record either. */
    NOWHERE("a reference to what neither dump has"),

    /** HotSpot wrote a reference or a root to what its dump has no record of, as a class that is not linked; ours has none. */
    RECORDLESS("HotSpot wrote an id without a record"),

    /** HotSpot writes every NaN in its canonical form. */
    CANONICAL_NAN("HotSpot made the NaN canonical"),

    /** HotSpot has no place for what a class holds beyond its static fields; ours are in angle brackets. */
    PSEUDO_STATIC("only ours has it, a reference of the class's own"),

    /**
     * JVMTI reports no fields of a class that is loaded and not linked, so ours has neither fields nor names of static fields,
     * and the instance size of the linked super class. What the static fields refer to it has. Counted by class.
     */
    UNLINKED("not linked, so JVMTI does not report its fields"),

    /** JVMTI leaves out the field that HotSpot hides from reflection. */
    HIDDEN_FIELD("JVMTI hides a field of it"),

    /** An archived object whose class is not loaded: HotSpot writes null for references to it. */
    DORMANT("HotSpot wrote null for a dormant archived object"),

    /**
     * Java 11 holds types of method handles, its loaders and a lock beside the classes that are never unloaded, and reports them
     * as it does these. Its dump leaves them out. Counted by class.
     */
    HELD_BY_JVM("a root of kind JNI_GLOBAL only in ours, held by the JVM itself"),

    /** HotSpot's dump has the bootstrap loader's classes as roots, but not its array classes. */
    BOOT_ARRAY_CLASS("a root of kind STICKY_CLASS only in ours, an array class of the bootstrap loader"),

    /**
     * A hidden class, which lives as long as its class object, not as its loader. The bootstrap loader holds this one as a
     * method of it follows a call in another class.
     */
    DEPENDED_ON("a root of kind STICKY_CLASS only in ours, a hidden class that a class of the bootstrap loader calls"),

    /**
     * Since 16, ours has what the collector finds in the registers and slots of compiled frames: what only objects refer to that
     * the compiler has replaced, and the receivers of native methods. Those have no number of a frame.
     */
    COMPILED_FRAME("a root of kind JAVA_FRAME without a frame only in ours, which a compiled frame holds"),

    /** Ours has what the JVM's own code holds for a thread, as that of signals holds the thread's own objects. */
    HANDLE("a root of kind JAVA_FRAME without a frame only in ours, which the JVM's own code holds"),

    /** The threads that carry out the requests are busy while the dumps are made. */
    SERVING_THREAD("of a thread that serves the requests");

    final String meaning;

    Rule(String meaning) {
        this.meaning = meaning;
    }
}
