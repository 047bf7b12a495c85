package roots;

/** Threads that run: with what a loop holds, and what is on its way, returned or thrown. */
final class Running {
    private static final int WARM = 20;
    private static final int ROUNDS = 300_000;
    private static volatile boolean isNeverSet;

    private Running() {}

    static void addTo(Places places) {
        places.add("returned", Running::returned, null);
        places.add("returned by another", Running::returned, null);
        places.add("thrown", Running::thrown, null);
        places.add("passed on", Running::passedOn, null);
        places.add("loop", Running::loop, null);
        places.add("loop compiled while it runs", Running::osr, null);
        places.addVirtual("virtual returned", Running::returned, null);
        places.addVirtual("virtual thrown", Running::thrown, null);
        places.addVirtual("virtual loop", Running::loop, null);
        places.addVirtual("virtual that yields", Running::yields, null);
    }

    static void warmUp() {
        for (int i = 0; i < WARM; i++) {
            Stop.passed += build(new Sum(), ROUNDS).hashCode() + build(new Mix(), ROUNDS).hashCode()
                    + build(new Keep(Tok.of(-1)), ROUNDS).hashCode();
            Stop.passed += spin(new Cursor(Tok.of(-1)), ROUNDS) + carry(Tok.of(-1), ROUNDS / 10).use() + pass(Tok.of(-1), ROUNDS / 10).use();
        }
    }

    /** A token, with which a thread begins to run. No variable of its caller has it. */
    private static Tok begin(int place, Stop stop) {
        stop.running();
        return Tok.of(place);
    }

    /** A builder: each call returns it. */
    private interface Builder {
        Builder add(int number);
    }

    private static final class Keep implements Builder {
        private final Tok tok;
        private int last;

        Keep(Tok tok) {
            this.tok = tok;
        }

        @Override
        public Builder add(int number) {
            last = number + tok.use();
            return this;
        }
    }

    private static final class Sum implements Builder {
        private int sum;

        @Override
        public Builder add(int number) {
            sum += number;
            return this;
        }
    }

    private static final class Mix implements Builder {
        private int mix;

        @Override
        public Builder add(int number) {
            mix ^= number;
            return this;
        }
    }

    private static Builder build(Builder builder, int rounds) {
        Builder built = builder;
        for (int i = 0; i < rounds; i++) {
            built = built.add(i & 0xffffff);
        }
        return built;
    }

    private static void returned(int place, Stop stop) {
        while (true) {
            build(new Keep(begin(place, stop)), Integer.MAX_VALUE);
        }
    }

    private static Tok carry(Tok tok, int rounds) {
        Tok carried = tok;
        for (int i = 0; i < rounds; i++) {
            carried = caught(carried, i & 7);
        }
        return carried;
    }

    private static Tok caught(Tok tok, int depth) {
        try {
            fail(tok, depth);
            return null;
        } catch (Tok.Thrown e) {
            return e.tok;
        }
    }

    private static void fail(Tok tok, int depth) {
        if (depth == 0) {
            throw new Tok.Thrown(tok);
        }
        fail(tok, depth - 1);
    }

    private static void thrown(int place, Stop stop) {
        while (true) {
            carry(begin(place, stop), Integer.MAX_VALUE);
        }
    }

    private static Tok pass(Tok tok, int rounds) {
        Tok passed = tok;
        for (int i = 0; i < rounds; i++) {
            passed = down(passed, i & 15);
        }
        return passed;
    }

    private static Tok down(Tok tok, int depth) {
        return depth == 0 ? tok : down(tok, depth - 1);
    }

    private static void passedOn(int place, Stop stop) {
        while (true) {
            pass(begin(place, stop), Integer.MAX_VALUE);
        }
    }

    private static final class Cursor {
        private final Tok tok;

        Cursor(Tok tok) {
            this.tok = tok;
        }
    }

    private static int spin(Cursor cursor, long rounds) {
        Cursor own = new Cursor(cursor.tok);
        int sum = 0;
        for (long i = 0; i < rounds && !isNeverSet; i++) {
            sum += own.tok.place;
        }
        return sum;
    }

    private static void loop(int place, Stop stop) {
        Cursor cursor = new Cursor(Tok.of(place));
        stop.running();
        Stop.passed += spin(cursor, Long.MAX_VALUE);
    }

    /** Is called once, so the compiler replaces its loop while it runs. */
    private static void osr(int place, Stop stop) {
        int sum = 0;
        for (long rounds : new long[] {ROUNDS, ROUNDS, ROUNDS, Long.MAX_VALUE}) {
            Cursor cursor = new Cursor(Tok.of(place));
            if (rounds == Long.MAX_VALUE) {
                stop.running();
            }
            for (long i = 0; i < rounds && !isNeverSet; i++) {
                sum += cursor.tok.place;
            }
        }
        Stop.passed += sum;
    }

    private static void yields(int place, Stop stop) {
        Tok tok = Tok.of(place);
        stop.running();
        while (!isNeverSet) {
            Thread.yield();
        }
        Stop.passed += tok.use();
    }
}
