package cpu;

import subject.Say;

/** One method runs before the bench's word, another one after it. */
public class TwoPhases {
    static final long STEPS = 300_000_000;

    public static void main(String[] args) {
        first();
        Say.ready();
        second();
        Say.line("SECOND");
        Say.hear();
    }

    static void first() {
        Mix.sink += Mix.spin(Mix.sink, STEPS);
    }

    static void second() {
        Mix.sink += Mix.spin(Mix.sink, STEPS);
    }
}
