package harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.Arguments;

/** What is left out of one run is in another. */
class MatrixTest {
    private static final List<Arguments> ROWS = Jdks.majors().stream()
            .flatMap(jdk -> Stream.of("one", "two").map(claim -> Arguments.of(jdk, claim))).collect(Collectors.toList());

    private static Method test() throws NoSuchMethodException {
        return MatrixTest.class.getDeclaredMethod("aFewCommitsSeeAllRows");
    }

    @Test
    void aRunAndTheRestAreAllRowsOnce() throws NoSuchMethodException {
        List<Arguments> both = new ArrayList<>(Matrix.THIN.of(test(), ROWS));
        assertEquals(2, both.size(), "one of each claim");
        both.addAll(Matrix.REST.of(test(), ROWS));
        assertEquals(ROWS.size(), both.size());
        assertEquals(Set.copyOf(ROWS), Set.copyOf(both));
    }

    @Test
    void aFewCommitsSeeAllRows() throws NoSuchMethodException {
        Set<Arguments> seen = new HashSet<>();
        for (int turn : IntStream.range(0, ROWS.size() / 2).toArray()) {
            seen.addAll(Matrix.thin(test(), ROWS, turn));
        }
        assertEquals(Set.copyOf(ROWS), seen);
    }

    @Test
    void afterAFewCommitsEachTestHadItsTurnOnce() throws NoSuchMethodException {
        Method test = test();
        assertEquals(1, IntStream.range(0, InTurn.COMMITS).filter(turn -> OncePerRun.hasTurn(test, turn)).count());
    }

    /** Rows of another source would all run, and again in the second run of make test-all. */
    @Test
    void allRowsComeFromOneSource() throws IOException {
        try (Stream<Path> files = Files.walk(Tools.source("."))) {
            for (Path file : (Iterable<Path>) files.filter(path -> path.toString().endsWith("Test.java"))::iterator) {
                assertTrue(!Files.readString(file).contains("@Method" + "Source"), file::toString);
            }
        }
    }

    @Test
    void whatHasFailedBeforeIsThere() throws IOException {
        for (String[] failed : Matrix.FAILED_BEFORE) {
            String[] names = failed[0].split("#");
            try (Stream<Path> files = Files.walk(Tools.source("."))) {
                Path file = files.filter(path -> path.endsWith(names[0] + ".java")).findFirst().orElseThrow();
                assertTrue(Files.readString(file).contains(" void " + names[1] + "("), () -> String.join(" ", failed));
            }
        }
    }
}
