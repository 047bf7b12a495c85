package same;

/** Why a difference between the dumps of two engines is right, and how many of its kind would be too many. */
enum EngineRule {
    /**
     * JVMTI tells of a class its static fields and constants, not what its class object holds besides: reflection data,
     * resolved call sites, locks. So a walk misses what only that leads to; the fork has it behind names in angle brackets.
     */
    HELD_BY_CLASS_OBJECT("only the fork's dump has it, as only class objects' own fields lead to it", 5000),

    /** Class objects of primitive types and of archived classes that were never loaded are no classes of the dump. */
    FIELD_OF_CLASS_OBJECT("JVMTI tells no fields of a class object", 2000),

    /** Nor does it tell the protection domain of an array class or of a class that is not linked. */
    UNTOLD_DOMAIN("JVMTI tells no protection domain of a class that is an array or not linked", 100),

    /** A walk is told the constants of a class, not of which class the arrays are that the data of the bootstrap loader hold. */
    CONSTANTS_OF_A_LOADER("an array of constants, which a walk has as a root", 6000);

    final String meaning;
    /** How often it may be used in one comparison of a small program. */
    final int most;

    EngineRule(String meaning, int most) {
        this.meaning = meaning;
        this.most = most;
    }
}
