package leaks;

import java.util.ArrayList;
import java.util.List;
import subject.Definer;
import subject.Say;

/**
 * Keeps as many sessions as its argument, all with the same text, and a large array that is nearly empty, and a class
 * that three loaders have.
 */
public class Shop {
    static class Session {
        final String text = new String(new char[] {'h', 'u', 'n', 't', 'e', 'r', '2'});
        final byte[] data = new byte[1_000];
        Object never;
    }

    static final List<Session> SESSIONS = new ArrayList<>();
    static final List<Object> PLUGINS = new ArrayList<>();
    static final Object[] SPARSE = new Object[5_000];

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        for (int i = 0; i < count; i++) {
            SESSIONS.add(new Session()); // the line that makes sessions
        }
        SPARSE[7] = SESSIONS;
        for (int i = 0; i < 3; i++) {
            PLUGINS.add(new Definer().instance("shop/Plugin"));
        }
        Thread.currentThread().setName("till");
        serve(new long[10_000]);
    }

    /** Holds an array that nothing else holds. */
    private static void serve(long[] held) throws Exception {
        Say.ready();
        held[0]++;
    }
}
