package lifecycle;

import java.util.concurrent.CountDownLatch;
import subject.Say;

/**
 * Its system class loader loads one class at a time, as loaders of old do, and a thread holds its lock for ever:
 * a thread that asks this loader for a class does not come back.
 */
public class HeldLoader {
    /** To be named by {@code -Djava.system.class.loader}. */
    public static class Loader extends ClassLoader {
        public Loader(ClassLoader parent) {
            super(parent);
        }

        @Override
        protected synchronized Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            return super.loadClass(name, resolve);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        ClassLoader loader = ClassLoader.getSystemClassLoader();
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        Thread holder = new Thread(() -> {
            synchronized (loader) {
                held.countDown();
                try {
                    never.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        holder.setDaemon(true);
        holder.start();
        Say.atLeast(1, loader.getClass());
        held.await();
        Say.ready();
    }
}
