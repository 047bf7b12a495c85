package text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Rows;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;

/** The dates in texts are those that the program itself has: local time. */
class LocalTimeTest {
    /** Ahead of UTC by five hours and a half, written so that no file is needed to know it. */
    private static final String ZONE = "TZ=XYZ-5:30";
    private static final Pattern DATE = Pattern.compile("\\w{3} \\w{3} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d \\d{4}");
    private static final DateTimeFormatter LAYOUT = DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss yyyy", Locale.ENGLISH);

    @TempDir Path folder;

    static Stream<Arguments> cases() {
        return Jdks.majors().stream().flatMap(jdk -> Stream.of("cpu=samples", "heap=dump").map(what -> Arguments.of(jdk, what)));
    }

    @ParameterizedTest
    @Rows("cases")
    void isThatOfTheProgram(Jdk jdk, String what) throws Exception {
        Path file = folder.resolve("text.txt");
        try (Jvm jvm = Jvm.on(jdk, folder).through("env", ZONE).agent(what + ",format=a,doe=n,file=" + file)
                .run(Clock.class).ready()) {
            jvm.signal("QUIT");
            jvm.err.await(1, "word of the text", line -> line.matches("hprof-rs: (wrote|dumped) .*"), Jvm.LIMIT);
            jvm.say("time").out.await(2, "the time", line -> line.startsWith("LOCAL "), Jvm.LIMIT);
            assertEquals(0, jvm.end(), jvm.err::text);
            List<LocalDateTime> said = jvm.out.lines().stream().filter(line -> line.startsWith("LOCAL "))
                    .map(line -> LocalDateTime.parse(line.substring("LOCAL ".length())).truncatedTo(ChronoUnit.SECONDS))
                    .collect(Collectors.toList());
            Matcher dates = DATE.matcher(Files.readString(file));
            int found = 0;
            for (; dates.find(); found++) {
                LocalDateTime date = LocalDateTime.parse(dates.group(), LAYOUT);
                assertFalse(date.isBefore(said.get(0)) || date.isAfter(said.get(1)), dates.group() + " is not in " + said);
            }
            assertTrue(found >= 2, "dates: of the file and of what is in it");
            // The program itself is in that zone.
            assertTrue(ChronoUnit.HOURS.between(LocalDateTime.now(ZoneOffset.UTC), said.get(1)) >= 5, said::toString);
        }
    }
}
