package planted.judge;

import harness.Collector;
import harness.Command;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.Launch;
import harness.Tools;
import java.nio.file.Files;
import java.nio.file.Path;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import planted.Leak;

/** A program that leaks: the runtime that it runs on, which its name decides, and the facts of its answer. */
public final class Kind {
    private static final String FILE = "leak.hprof";
    private static final List<Integer> JAVAS = List.of(8, 11, 17, 21, 25);
    private static final List<Collector> COLLECTORS =
            List.of(Collector.G1, Collector.SERIAL, Collector.PARALLEL, Collector.SHENANDOAH);

    public final String name;
    public final List<Fact> first;
    public final List<Fact> screen;
    private final Class<?> program;
    private final Leak leak;
    private final int since;

    private Kind(Class<?> program, String suffix, int since) {
        this.program = program;
        this.since = since;
        leak = program.getAnnotation(Leak.class);
        name = program.getName().substring(program.getName().lastIndexOf('.') + 1).replace('$', '.') + suffix;
        first = facts(leak.first());
        screen = new ArrayList<>(first);
        screen.addAll(facts(leak.screen()));
    }

    /** Those that its Java can have. */
    private List<Fact> facts(String[] written) {
        return Arrays.stream(written).map(Fact::of).filter(fact -> fact.since <= jdk().major).collect(Collectors.toList());
    }

    /** A program's kind, and if that runs on a Java which is too old for one of its facts, a second one on a newer. */
    private static Stream<Kind> of(Class<?> program) {
        Leak leak = program.getAnnotation(Leak.class);
        Kind kind = new Kind(program, "", leak.since());
        int newest = Stream.of(leak.first(), leak.screen()).flatMap(Arrays::stream).mapToInt(fact -> Fact.of(fact).since).max().orElse(0);
        return newest <= kind.jdk().major ? Stream.of(kind) : Stream.of(kind, new Kind(program, ".Newer", newest));
    }

    /** All programs of the package, by name. */
    public static List<Kind> all() {
        try (Stream<Path> files = Files.list(Tools.subjects().resolve("planted"))) {
            return files.map(file -> file.getFileName().toString()).filter(file -> file.endsWith(".class"))
                    .map(file -> type("planted." + file.replace(".class", ""))).filter(type -> type.isAnnotationPresent(Leak.class))
                    .flatMap(Kind::of).sorted(Comparator.comparing(kind -> kind.name)).collect(Collectors.toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Class<?> type(String name) {
        try {
            return Class.forName(name, false, Kind.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The name decides, so that a new kind moves no other. */
    public Jdk jdk() {
        List<Integer> fitting = JAVAS.stream().filter(major -> major >= since).collect(Collectors.toList());
        return Jdks.of(fitting.get(Math.floorMod(name.hashCode(), fitting.size())));
    }

    /** Java 8 has no Shenandoah. */
    public Collector collector() {
        int fitting = COLLECTORS.size() - (jdk().major == 8 ? 1 : 0);
        return COLLECTORS.get(Math.floorMod(name.hashCode() / JAVAS.size(), fitting));
    }

    /** All its facts as lines `KIND PLACE FACT`. */
    public List<String> wanted() {
        return Stream.concat(first.stream().map(fact -> line("first", fact)), screen.stream().map(fact -> line("screen", fact)))
                .collect(Collectors.toList());
    }

    /** The facts that an answer has, or with `isIn` false those that it lacks, as lines `KIND PLACE FACT`. */
    public List<String> facts(Answer answer, boolean isIn) {
        Stream<String> all = first.stream().filter(fact -> fact.isIn(answer.sentence) == isIn).map(fact -> line("first", fact));
        return Stream.concat(all, screen.stream().filter(fact -> fact.isIn(answer.screen) == isIn).map(fact -> line("screen", fact)))
                .collect(Collectors.toList());
    }

    private String line(String place, Fact fact) {
        return name + " " + place + " " + fact.name;
    }

    /** The file of the program. */
    public Path source() {
        return Tools.source("planted/" + name.split("\\.")[0] + ".java");
    }

    /** A JVM in which the leak is there. */
    public Jvm run(Path folder) {
        Launch launch = Jvm.on(jdk(), folder).with(collector()).switches("-Xmx256m", "-XX:TieredStopAtLevel=1")
                .agent(leak.dump() + ",doe=n,file=" + folder.resolve(FILE));
        Arrays.stream(leak.jars()).map(Tools::jar).forEach(launch::classPath);
        if (!leak.library().isEmpty()) {
            launch.switches("-Dplanted.library=" + library(folder));
        }
        return launch.run(program).ready();
    }

    private Path library(Path folder) {
        Path library = folder.resolve("planted.so");
        Path headers = Jdks.of(21).home.resolve("include");
        Command.run("cc", "-shared", "-fPIC", "-I" + headers, "-I" + headers.resolve("linux"), "-o", library,
                Tools.source("planted/" + leak.library())).good();
        return library;
    }

    /** The dump of a JVM in which the leak is there, once it has ended. */
    public Path dump(Path folder) {
        try (Jvm jvm = run(folder)) {
            return dump(jvm, folder);
        }
    }

    /** The dump that this JVM makes in its folder. */
    public Path dump(Jvm jvm, Path folder) {
        jvm.signal("QUIT");
        jvm.dumped(1);
        return folder.resolve(FILE);
    }

    @Override
    public String toString() {
        return name + " on Java " + jdk().major + ", " + collector();
    }
}
