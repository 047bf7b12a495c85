package roots;

/** How the code of a program is run. */
enum Code {
    INTERPRETED(false, "-Xint"),
    /** By the first compiler only. */
    C1(true, "-Xbatch", "-XX:TieredStopAtLevel=1"),
    C2(true, "-Xbatch");

    /** Whether the program runs everything many times before it stops. */
    final boolean isWarm;
    final String[] switches;

    Code(boolean isWarm, String... switches) {
        this.isWarm = isWarm;
        this.switches = switches;
    }
}
