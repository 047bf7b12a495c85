package same;

import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.WeakHashMap;
import java.util.concurrent.CountDownLatch;

/** References of every strength, and objects with an identity. Runs on Java 8. */
class ManyReferences {
    private static final ReferenceQueue<Object> QUEUE = new ReferenceQueue<>();
    private static final CountDownLatch FINALIZED = new CountDownLatch(1);

    static class Finalizable {
        final CountDownLatch latch;

        Finalizable(CountDownLatch latch) {
            this.latch = latch;
        }

        @Override
        protected void finalize() {
            latch.countDown();
        }
    }

    private ManyReferences() {}

    static List<Object> all() {
        List<Object> all = new ArrayList<>();
        Object strong = new Object();
        all.add(strong);
        all.add(new WeakReference<>(strong, QUEUE));
        all.add(new PhantomReference<>(strong, QUEUE));
        all.add(new SoftReference<>(new byte[100]));
        all.add(new SoftReference<>(strong));
        all.add(new WeakReference<>(new byte[100]));
        all.add(new WeakReference<>(ManyReferences.class));
        WeakHashMap<Object, Object> weak = new WeakHashMap<>();
        weak.put(strong, "kept");
        all.add(weak);
        all.add(new Finalizable(new CountDownLatch(1)));
        all.add(ByteBuffer.allocateDirect(100));
        all.add(new Throwable("with a stack", new RuntimeException("and a cause")));
        ThreadLocal<Object> local = new ThreadLocal<>();
        local.set(new int[] {6});
        all.add(local);
        for (int i = 0; i < 1000; i++) {
            Object hashed = i % 2 == 0 ? new Object() : new long[i % 7];
            all.add(hashed);
            all.add(System.identityHashCode(hashed));
        }
        return all;
    }

    /** Collects garbage, and waits until the JVM's threads for references have seen to what came of it. */
    static void collect() throws InterruptedException {
        Reference<Object> enqueued = new WeakReference<>(new Object(), QUEUE);
        new Finalizable(FINALIZED);
        System.gc();
        FINALIZED.await();
        for (Reference<?> next = QUEUE.remove(); next != enqueued; next = QUEUE.remove()) {
            Quiet.KEPT.add(next);
        }
        System.gc();
    }
}
