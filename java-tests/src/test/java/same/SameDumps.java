package same;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;

/** Compares two dumps that the agent made of one quiet JVM. */
public final class SameDumps {
    private SameDumps() {}

    /** Both hold the same objects at the same addresses, the same classes, roots and stacks. */
    public static void mustBeTheSame(Path earlier, Path later) {
        Findings findings = Comparison.of(HprofFile.read(earlier), HprofFile.read(later), Comparison.Order.OURS_FIRST);
        assertEquals(0, findings.differences(), findings::toString);
    }
}
