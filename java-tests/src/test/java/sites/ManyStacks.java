package sites;

import subject.Say;

/** Makes each of its objects at the end of another stack of many frames. Runs on Java 8. */
public final class ManyStacks {
    static final int OBJECTS = 16_000;
    static final int FRAMES = 300;

    /** What is made. */
    static final class Made {
        final Made before;

        Made(Made before) {
            this.before = before;
        }
    }

    private static Made last;

    private ManyStacks() {}

    public static void main(String[] args) {
        for (int path = 0; path < OBJECTS; path++) {
            step(FRAMES, path);
        }
        Say.ready();
    }

    /** The bits of the path choose the line of the next step. */
    private static void step(int left, int path) {
        if (left == 0) {
            last = new Made(last);
        } else if ((path & 1) == 0) {
            step(left - 1, path >> 1);
        } else {
            step(left - 1, path >> 1);
        }
    }
}
