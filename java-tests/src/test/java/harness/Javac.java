package harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Compiles the subjects that need a later language than Java 8: src/test/java17 and so on; and knows a sample. */
public final class Javac {
    private static final Map<Integer, Path> COMPILED = new HashMap<>();

    private Javac() {}

    /** The class folder of all subjects of a language level, compiled once a run. */
    public static synchronized Path subjects(int release) {
        return COMPILED.computeIfAbsent(release, Javac::compile);
    }

    /** The package that is the sample, some thousand lines. */
    private static Path samplePackage() {
        return Tools.PROJECT.resolve("src/test/java/same");
    }

    /** Arguments of any compiler for compiling the sample into this folder. */
    public static List<String> sample(Path classes) {
        Path sources = samplePackage().getParent();
        List<String> words = new ArrayList<>(
                List.of("-proc:none", "-nowarn", "-g", "-sourcepath", sources.toString(), "-d", classes.toString()));
        new Folder(samplePackage()).names().stream().map(samplePackage()::resolve).filter(Javac::needsTheJdkAlone)
                .map(Path::toString).forEach(words::add);
        return words;
    }

    /** Whether this source imports nothing but the JDK and other sources of the tests. */
    private static boolean needsTheJdkAlone(Path source) {
        try (Stream<String> lines = Files.lines(source)) {
            return lines.noneMatch(line -> line.matches("import (static )?org\\..*"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path compile(int release) {
        Path classes = Tools.PROJECT.resolve("target/classes-" + release);
        List<String> words = new ArrayList<>(Jdks.javac(release));
        words.addAll(List.of("-g", "-cp", Tools.subjects().toString(), "-d", classes.toString()));
        try (Stream<Path> files = Files.walk(Tools.PROJECT.resolve("src/test/java" + release))) {
            files.map(Path::toString).filter(file -> file.endsWith(".java")).forEach(words::add);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Command.run(words.toArray()).good();
        return classes;
    }
}
