package harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The Java runtimes of this machine: those fetched into target/jdks and those of the system. */
public final class Jdks {
    private static final List<Integer> NEEDED = List.of(11, 17, 21, 25);
    private static List<Jdk> all;

    private Jdks() {}

    /** Every runtime, oldest first, one of each exact version. */
    public static synchronized List<Jdk> all() {
        if (all == null) {
            Map<String, Jdk> found = new TreeMap<>();
            for (Path folder : List.of(Tools.jdks(), Paths.get("/usr/lib/jvm"))) {
                for (Path home : homes(folder)) {
                    Jdk jdk = Jdk.at(home);
                    found.putIfAbsent(jdk.version, jdk);
                }
            }
            List<Jdk> sorted = new ArrayList<>(found.values());
            sorted.sort(Comparator.comparingInt((Jdk jdk) -> jdk.major).thenComparing(jdk -> jdk.version));
            for (int major : NEEDED) {
                if (sorted.stream().noneMatch(jdk -> jdk.major == major)) {
                    throw new IllegalStateException("no Java " + major + ": fetch it with tools/fetch-jdks.sh " + major);
                }
            }
            all = sorted;
        }
        return all;
    }

    /** One runtime of each major version. */
    public static List<Jdk> majors() {
        Map<Integer, Jdk> majors = new TreeMap<>();
        all().forEach(jdk -> majors.putIfAbsent(jdk.major, jdk));
        return new ArrayList<>(majors.values());
    }

    /** One runtime of each major version from this one on. */
    public static List<Jdk> since(int major) {
        return majors().stream().filter(jdk -> jdk.major >= major).collect(Collectors.toList());
    }

    public static Jdk of(int major) {
        return majors().stream().filter(jdk -> jdk.major == major).findFirst()
                .orElseThrow(() -> new IllegalStateException("no Java " + major + " in target/jdks, and this test needs one: tools/fetch-jdks.sh " + major + " gets it or says why it cannot"));
    }

    /** The newest runtime not above this major version. */
    static Jdk newest(int limit) {
        return all().stream().filter(jdk -> jdk.major <= limit).reduce((older, newer) -> newer).orElseThrow();
    }

    /** A compiler for this level of the language. */
    static Path javac(int release) {
        return all().stream().filter(jdk -> jdk.major >= release).map(jdk -> jdk.home.resolve("bin/javac"))
                .filter(Files::exists).findFirst()
                .orElseThrow(() -> new IllegalStateException(
                        "no javac for Java " + release + " under /usr/lib/jvm: install a JDK"));
    }

    private static List<Path> homes(Path folder) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(home -> Files.isExecutable(home.resolve("bin/java"))).sorted().collect(Collectors.toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
