package lifecycle;

import subject.Say;

/** Has daemon threads that collect and allocate until the JVM has ended. */
public class Collecting {
    static final Collecting[] KEPT = new Collecting[20_000];
    static volatile Object last;

    public static void main(String[] args) {
        for (int i = 0; i < KEPT.length; i++) {
            KEPT[i] = new Collecting();
        }
        Say.expect(KEPT.length, Collecting.class);
        daemon(System::gc);
        daemon(() -> last = new byte[100_000]);
        Say.ready();
        if (args[0].equals("halt")) {
            Runtime.getRuntime().halt(0);
        }
    }

    private static void daemon(Runnable step) {
        Thread thread = new Thread(() -> {
            while (true) {
                step.run();
            }
        });
        thread.setDaemon(true);
        thread.start();
    }
}
