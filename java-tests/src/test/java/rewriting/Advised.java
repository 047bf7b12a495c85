package rewriting;

import static net.bytebuddy.matcher.ElementMatchers.is;
import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.none;
import static net.bytebuddy.matcher.ElementMatchers.takesArguments;

import net.bytebuddy.agent.Installer;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.agent.builder.AgentBuilder.RedefinitionStrategy;
import net.bytebuddy.asm.Advice;
import subject.Say;

/** Has another agent put a call of this program's code, and of the JDK's, in front of {@code Object.wait(long, int)}. Runs on Java 8. */
public final class Advised {
    static final int ROUNDS = 1000;

    private static final String NAME = "rewriting.advised";
    private static int waits;

    private Advised() {}

    /** The other agent copies this code to the method. */
    static class BeforeWait {
        private BeforeWait() {}

        @Advice.OnMethodEnter
        static void before() {
            Object told = System.getProperties().get("rewriting.advised");
            if (told instanceof Runnable) {
                ((Runnable) told).run();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        System.getProperties().put(NAME, (Runnable) Advised::count);
        Say.line("SUM", work());
        for (int time = 1; time <= 2; time++) {
            new AgentBuilder.Default().disableClassFormatChanges().with(RedefinitionStrategy.RETRANSFORMATION).ignore(none())
                    .type(is(Object.class))
                    .transform((builder, type, loader, module, domain) -> builder
                            .visit(Advice.to(BeforeWait.class).on(named("wait").and(takesArguments(long.class, int.class)))))
                    .installOn(Installer.getInstrumentation());
            Say.line("SUM", work());
            waits = 0;
            Object lock = new Object();
            synchronized (lock) {
                lock.wait(1, 1);
            }
            Say.line("WAITS", waits);
        }
    }

    private static void count() {
        waits++;
    }

    private static long work() {
        long sum = 0;
        for (int round = 0; round < ROUNDS; round++) {
            sum += half(round) + new int[round % 7].length;
        }
        return sum;
    }

    private static int half(int number) {
        return number / 2;
    }
}
