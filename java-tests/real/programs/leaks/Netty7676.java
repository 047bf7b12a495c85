// report  netty/netty#7676
// leaks   io.netty:netty-common:4.1.20.Final
// mended  io.netty:netty-common:4.1.68.Final
// java    8
// class   io.netty.util.internal.ObjectCleaner$AutomaticCleanerReference
// number  50000
// holder  LIVE_SET|ObjectCleaner\b
// reason  (?i)same (referent|thread)|alive|one for each|never (enqueued|cleared)
// change  take a version that registers no cleaner for each value
package leaks;

import io.netty.util.concurrent.FastThreadLocal;

/** A thread that sets a variable and removes it, again and again. */
public final class Netty7676 {
    static final FastThreadLocal<String> NAME = new FastThreadLocal<>();

    public static void main(String[] args) {
        for (int i = 0; i < 50_000; i++) {
            NAME.set("name");
            NAME.get();
            NAME.remove();
        }
    }
}
