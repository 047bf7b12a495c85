package leaks;

import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import subject.Say;

/** Has an object of each kind that is not held strongly. Runs on Java 8. */
public class Referred {
    static class Softly {
        final byte[] data = new byte[1_000];
    }

    static class Weakly {
        final byte[] data = new byte[1_000];
    }

    static class Phantomly {
        final byte[] data = new byte[1_000];
    }

    /** The JVM holds each of its objects by a java.lang.ref.Finalizer, but would hold none if finalize() were empty. */
    static class ToBeFinalized {
        static boolean finalized;
        final byte[] data = new byte[1_000];

        @Override
        protected void finalize() {
            finalized = true;
        }
    }

    static final ReferenceQueue<Object> QUEUE = new ReferenceQueue<>();
    static Reference<?>[] kept;

    public static void main(String[] args) {
        plant();
        Say.ready();
    }

    private static void plant() {
        kept = new Reference<?>[] {
            new SoftReference<>(new Softly()),
            new WeakReference<>(new Weakly()),
            new PhantomReference<>(new Phantomly(), QUEUE),
        };
        new ToBeFinalized();
    }
}
