package harm;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Engine;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jvm;
import harness.Launch;
import harness.Rows;
import java.nio.file.Files;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * The C library takes the stacks of threads that a fork leaves as free: it gives them to the copy's own threads, and
 * unmaps those beyond 40 MB when a thread ends. The copy reads some of them, the stack of the thread that makes the dump first.
 */
class StacksTest extends HoldingTest {
    @ParameterizedTest
    @Rows("two")
    void ofManyThreads(Jdk jdk) {
        isDumpedByFork(watching(jdk, "", folder), 200);
    }

    @ParameterizedTest
    @Rows("two")
    void ofLargeSize(Jdk jdk) {
        isDumpedByFork(watching(jdk, "", folder).switches("-Xss8m"), 20);
    }

    /** The library keeps none here, so that the first thread of the copy that ends has all of them unmapped. */
    @ParameterizedTest
    @Rows("two")
    void ofWhichNoneIsKept(Jdk jdk) {
        isDumpedByFork(watching(jdk, "", folder).through("env", "GLIBC_TUNABLES=glibc.pthread.stack_cache_size=0"), 8);
    }

    /** Stacks of 4 MB are what fits a thread of the copy that asks for 2. */
    @ParameterizedTest
    @Rows("two")
    void areNotUsedAnew(Jdk jdk) {
        for (String size : new String[] {"-Xss1m", "-Xss4m"}) {
            // No thread of the JVM ends: the stack of one that has may well be used anew.
            isDumpedByFork(watching(jdk, "", folder).switches(size, "-XX:-UseDynamicNumberOfCompilerThreads"), 4);
            assertFalse(Files.exists(holds.resolve("reused")), "a thread of the copy has another thread's stack with " + size);
        }
    }

    private void isDumpedByFork(Launch launch, int threads) {
        try (Jvm jvm = launch.run(Storm.class, "" + threads, "quiet").ready()) {
            jvm.signal("QUIT");
            String line = outcome(jvm, 1);
            assertTrue(Engine.isSnapshot(line), line);
            new HprofCheck(folder.resolve("out.1.hprof")).good();
        }
    }
}
