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
import org.junit.jupiter.api.Assumptions;

/**
 * The Java runtimes of this machine: those fetched into target/jdks and those of the system. With -Dforeign=FOLDER the
 * tests run the runtimes of that folder, which are for another processor or C library; the tools are this machine's.
 */
public final class Jdks {
    private static List<Jdk> present;
    private static List<Jdk> tested;

    private Jdks() {}

    /** Every runtime, oldest first, one of each exact version; with -Djdk=17 or -Djdk=11,17 those of these majors. */
    public static List<Jdk> all() {
        List<Integer> wanted = wanted();
        List<Jdk> all = tested().stream().filter(jdk -> wanted.isEmpty() || wanted.contains(jdk.major))
                .collect(Collectors.toList());
        if (all.isEmpty()) {
            throw new IllegalStateException("no Java " + wanted + ": fetch it with tools/fetch-jdks.sh");
        }
        return all;
    }

    /** The majors that -Djdk names; none: all of them. */
    private static List<Integer> wanted() {
        return Stream.of(System.getProperty("jdk", "").split(",")).filter(major -> !major.isBlank())
                .map(Integer::valueOf).collect(Collectors.toList());
    }

    /** Every runtime of this machine, regardless of -Djdk. */
    static synchronized List<Jdk> present() {
        if (present == null) {
            present = in(Tools.jdks(), Paths.get("/usr/lib/jvm"));
        }
        return present;
    }

    /** What the tests may run, regardless of -Djdk. */
    private static synchronized List<Jdk> tested() {
        if (tested == null) {
            tested = foreign() == null ? present() : in(Paths.get(foreign()).toAbsolutePath());
        }
        return tested;
    }

    /** The folder of the runtimes under test, if they are not this machine's. */
    private static String foreign() {
        return System.getProperty("foreign");
    }

    /** The runtimes of these folders, oldest first, one of each exact version. */
    private static List<Jdk> in(Path... folders) {
        Map<String, Jdk> found = new TreeMap<>();
        for (Path folder : folders) {
            for (Path home : homes(folder)) {
                Jdk jdk = Jdk.at(home);
                found.putIfAbsent(jdk.version, jdk);
            }
        }
        List<Jdk> sorted = new ArrayList<>(found.values());
        sorted.sort(Comparator.comparingInt((Jdk jdk) -> jdk.major).thenComparing(jdk -> jdk.version));
        return sorted;
    }

    /** One runtime of each major version. */
    public static List<Jdk> majors() {
        Map<Integer, Jdk> majors = new TreeMap<>();
        all().forEach(jdk -> majors.putIfAbsent(jdk.major, jdk));
        return new ArrayList<>(majors.values());
    }

    /** One runtime of each major version from this one on; none if -Djdk or -Dforeign leaves none, which skips the test. */
    public static List<Jdk> since(int major) {
        List<Jdk> since = majors().stream().filter(jdk -> jdk.major >= major).collect(Collectors.toList());
        Assumptions.assumeFalse(since.isEmpty() && (!wanted().isEmpty() || foreign() != null),
                () -> "-Djdk or -Dforeign leaves no Java since " + major);
        return since;
    }

    /** The runtime of this major version. If it is missing, or -Djdk or -Dforeign has others, the case that starts it says so. */
    public static Jdk of(int major) {
        return tested().stream().filter(jdk -> jdk.major == major).findFirst().orElseGet(() -> Jdk.missing(major));
    }

    /** Ends a case that starts this runtime: skipped if -Djdk or -Dforeign has others, failed if it is missing. */
    static void mustServe(Jdk jdk) {
        Assumptions.assumeTrue(wanted().isEmpty() || wanted().contains(jdk.major), () -> "-Djdk does not name " + jdk.major);
        boolean isThere = tested().contains(jdk);
        Assumptions.assumeTrue(isThere || foreign() == null, () -> "-Dforeign has no Java " + jdk.major);
        if (!isThere) {
            throw new IllegalStateException("no Java " + jdk.major + " in target/jdks, and this test needs one: tools/fetch-jdks.sh "
                    + jdk.major + " gets it or prints why it cannot");
        }
    }

    /** The newest runtime not above this major version. */
    static Jdk newest(int limit) {
        return present().stream().filter(jdk -> jdk.major <= limit).reduce((older, newer) -> newer).orElseThrow();
    }

    /**
     * The first words of a command that compiles for this level of the language: those of a JDK's javac, or else of a
     * runtime that has the compiler as a module. Debian 12 has no JDK for Java 21.
     */
    static List<String> javac(int release) {
        List<Path> homes = present().stream().filter(jdk -> jdk.major >= release).map(jdk -> jdk.home)
                .collect(Collectors.toList());
        String level = Integer.toString(release);
        for (Path home : homes) {
            Path javac = home.resolve("bin/javac");
            if (Files.exists(javac)) {
                return List.of(javac.toString(), "--release", level);
            }
        }
        for (Path home : homes) {
            if (hasCompiler(home)) {
                // --release needs a file that only JDKs have.
                return List.of(home.resolve("bin/java").toString(), "-m", "jdk.compiler/com.sun.tools.javac.Main",
                        "-source", level, "-target", level);
            }
        }
        throw new IllegalStateException("no compiler for Java " + release
                + ": install a JDK under /usr/lib/jvm, or fetch a runtime that has one with tools/fetch-jdks.sh 26");
    }

    /** Whether the runtime's list of modules names the compiler. */
    private static boolean hasCompiler(Path home) {
        try {
            Path release = home.resolve("release");
            return Files.exists(release) && Files.readString(release).contains("jdk.compiler");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
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
