package harm;

import subject.Say;

/** More threads than there are processors, none of which ever rests. */
public class Spinning {
    private static final int THREADS = 12;

    static volatile long turns;

    public static void main(String[] args) {
        for (int thread = 0; thread < THREADS; thread++) {
            Thread spinning = new Thread(() -> {
                while (true) {
                    turns++;
                }
            });
            spinning.setDaemon(true);
            spinning.start();
        }
        Say.ready();
    }
}
