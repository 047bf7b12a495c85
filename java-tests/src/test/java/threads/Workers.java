package threads;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import subject.Say;

/** Two hundred threads that stand at known places, each with an object that only its own local variable holds. */
public class Workers {
    static final int COUNT = 200;
    static volatile boolean going = true;

    static class Local {}

    static class Worker implements Runnable {
        private final int depth;

        Worker(int depth) {
            this.depth = depth;
        }

        @Override
        public void run() {
            dig(depth);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            Thread thread = new Thread(new Worker(i % 9), "worker-" + i);
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            while (thread.getState() != Thread.State.WAITING) {
                Thread.yield();
            }
            StringBuilder stack = new StringBuilder();
            for (StackTraceElement frame : thread.getStackTrace()) {
                stack.append(stack.length() == 0 ? "" : ";").append(frame.getClassName()).append('.').append(frame.getMethodName())
                        .append(':').append(frame.getLineNumber());
            }
            Say.line("THREAD", thread.getName(), stack);
        }
        Say.expect(COUNT, Local.class);
        Say.ready();
        going = false;
        threads.forEach(LockSupport::unpark);
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void dig(int depth) {
        if (depth > 0) {
            dig(depth - 1);
        } else {
            stand(new Local());
        }
    }

    private static void stand(Local local) {
        while (going) {
            LockSupport.park(Workers.class);
        }
        Say.line("STOOD", local.getClass().getSimpleName());
    }
}
