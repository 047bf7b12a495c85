package harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What is to be run: a runtime, its switches, the agent's options, a program. */
public final class Launch {
    private final Jdk jdk;
    private final Path folder;
    private final List<String> prefix = new ArrayList<>();
    private final List<String> switches = new ArrayList<>();
    private final List<Path> classPath = new ArrayList<>(List.of(Tools.subjects()));

    Launch(Jdk jdk, Path folder) {
        this.jdk = jdk;
        this.folder = folder;
        switches("-XX:+UnlockExperimentalVMOptions");
    }

    public Launch with(Collector collector) {
        return switches(collector.option);
    }

    public Launch switches(String... more) {
        switches.addAll(List.of(more));
        return this;
    }

    /** Loads the agent with these options. */
    public Launch agent(String options) {
        return switches("-agentpath:" + Tools.agent() + "=" + options);
    }

    /** Loads the agent to write its dumps to this file. */
    public Launch dumpTo(Path file) {
        return agent("heap=dump,file=" + file);
    }

    public Launch classPath(Path folder) {
        classPath.add(folder);
        return this;
    }

    /** Runs the JVM through another command, such as a shell that sets limits first and then becomes it by `exec`. */
    public Launch through(String... words) {
        prefix.addAll(List.of(words));
        return this;
    }

    public Jvm run(Class<?> subject, String... arguments) {
        return run(subject.getName(), arguments);
    }

    public Jvm run(String subject, String... arguments) {
        List<String> words = new ArrayList<>(prefix);
        words.add(jdk.java().toString());
        words.addAll(switches);
        words.add("-cp");
        words.add(String.join(":", (Iterable<String>) classPath.stream().map(Path::toString)::iterator));
        words.add(subject);
        words.addAll(List.of(arguments));
        try {
            Path logs = Files.createDirectories(folder.resolve("logs"));
            return new Jvm(jdk, new ProcessBuilder(words).directory(folder.toFile()).start(), words, logs);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
