package planted;

import static org.junit.jupiter.api.Assertions.assertEquals;

import harness.Beside;
import harness.Command;
import harness.Jvm;
import harness.Rows;
import harness.Tools;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import planted.judge.Answer;
import planted.judge.Kind;
import planted.judge.Missing;

/**
 * `hprof leaks` finds the facts of leaks that are planted, all but those of missing.txt: what it found once it must find again,
 * and what it finds for the first time goes from that list. BLESS=1 writes the list anew.
 */
class PlantedTest {
    /** Of so many kinds, one is asked for by its process id, too. */
    private static final int LIVE = 5;

    private static final Missing MISSING = Missing.known();
    private static final Set<String> ASKED = new ConcurrentSkipListSet<>();
    private static final Set<String> NOW = new ConcurrentSkipListSet<>();

    @TempDir Path folder;

    static List<Kind> kinds() {
        return Kind.all();
    }

    @Beside
    @ParameterizedTest
    @Rows("kinds")
    void theAnswerHasTheFacts(Kind kind) {
        try (Jvm jvm = kind.run(folder)) {
            Path dump = kind.dump(jvm, folder);
            Answer answer = Answer.ours(dump);
            if (Math.floorMod(kind.name.hashCode(), LIVE) == 0) {
                mustBeginThePage(dump, answer);
                Answer live = Answer.ours(jvm.pid(), "--agent", Tools.agent());
                assertEquals(MISSING.settled(kind.facts(answer, false)), MISSING.settled(kind.facts(live, false)), () -> answer.screen + "\nlive:\n" + live.screen);
            }
            List<String> missing = kind.facts(answer, false);
            ASKED.add(kind.name);
            NOW.addAll(missing);
            if (!Missing.isBlessed()) {
                assertEquals(lines(MISSING.of(kind)), lines(MISSING.settled(missing)), () -> kind + " has more or fewer facts than missing.txt knows: "
                        + "delete from it what is found now\n" + answer.screen);
            }
        }
    }

    /** The page of the same dump begins with the same sentence. */
    private void mustBeginThePage(Path dump, Answer answer) {
        Path page = folder.resolve("page.html");
        Command.run(Tools.command(), "report", dump, "-o", page).good();
        assertEquals(answer.sentence, Tools.pageData(page).get("sentence").getAsString());
    }

    private static String lines(List<String> facts) {
        return facts.stream().sorted().collect(Collectors.joining("\n"));
    }

    @Test
    void theListOfMissingFactsNamesNoOthers() {
        Set<String> wanted = new HashSet<>();
        Kind.all().forEach(kind -> wanted.addAll(kind.wanted()));
        List<String> unknown = MISSING.all().stream().filter(fact -> !wanted.contains(fact)).collect(Collectors.toList());
        assertEquals(List.of(), unknown);
        assertEquals(MISSING.lines().stream().sorted().distinct().collect(Collectors.toList()), MISSING.lines());
    }

    @AfterAll
    static void bless() {
        if (Missing.isBlessed()) {
            MISSING.write(ASKED, NOW);
        }
    }
}
