package planted.judge;

import harness.Tools;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The facts that `hprof leaks` is known not to find yet: missing.txt, sorted lines `KIND PLACE FACT`. One that the order of objects
 * decides has the word `sometimes` behind it: it may be found or not.
 */
public final class Missing {
    private static final Path FILE = Tools.source("planted/missing.txt");

    private static final String SOMETIMES = " sometimes";

    private final List<String> facts;

    private Missing(List<String> facts) {
        this.facts = facts;
    }

    public static Missing known() {
        try {
            return new Missing(Files.readAllLines(FILE));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether the list is to be written anew. */
    public static boolean isBlessed() {
        return "1".equals(System.getenv("BLESS"));
    }

    /** The lines of the list. */
    public List<String> lines() {
        return facts;
    }

    /** All facts of the list. */
    public List<String> all() {
        return facts.stream().map(fact -> fact.replace(SOMETIMES, "")).collect(Collectors.toList());
    }

    /** The facts of a kind that must be missing. */
    public List<String> of(Kind kind) {
        return facts.stream().filter(fact -> kind(fact).equals(kind.name) && !fact.endsWith(SOMETIMES)).collect(Collectors.toList());
    }

    /** These facts without those that may be found or not. */
    public List<String> settled(List<String> missing) {
        return missing.stream().filter(fact -> !facts.contains(fact + SOMETIMES)).collect(Collectors.toList());
    }

    /** Writes what is missing now of the kinds that were asked for, and leaves the others as they are. */
    public void write(Set<String> asked, Collection<String> now) {
        Stream<String> others = facts.stream().filter(fact -> !asked.contains(kind(fact)) || fact.endsWith(SOMETIMES));
        try {
            Files.write(FILE, Stream.concat(others, settled(new ArrayList<>(now)).stream()).sorted().collect(Collectors.toList()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String kind(String fact) {
        return fact.split(" ")[0];
    }
}
