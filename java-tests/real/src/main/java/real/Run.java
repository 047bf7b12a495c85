package real;

import harness.Tools;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;

/** One run of a program, as it leaks or mended: with these libraries, on this Java. */
final class Run {
    private static final long LIMIT_SECONDS = 300;

    final Program program;
    final String name;
    final String libraries;
    private final String java;
    private final boolean hasArgument;

    Run(Program program, String suffix, String libraries, String java, boolean hasArgument) {
        this.program = program;
        name = program.name + suffix;
        this.libraries = libraries;
        this.java = java;
        this.hasArgument = hasArgument;
    }

    /** Its dump in this folder, made if it is not there or older than the program. */
    Path dump(Path folder, ClassPaths paths) throws IOException, InterruptedException {
        Path dump = folder.resolve(name + ".hprof");
        if (!Files.exists(dump) || Files.getLastModifiedTime(dump).compareTo(Files.getLastModifiedTime(program.source)) < 0) {
            System.err.println(name + ": runs on Java " + java);
            Files.deleteIfExists(dump);
            run(dump, compile(folder, paths.of(libraries)), paths.of(libraries));
        }
        return dump;
    }

    private Path compile(Path folder, String jars) throws IOException {
        Path classes = Files.createDirectories(folder.resolve("classes").resolve(name));
        String release = program.says("release").isEmpty() ? "8" : program.says("release");
        List<String> words = new ArrayList<>(List.of("-proc:none", "-nowarn", "-Xlint:none", "-parameters", "-d", classes.toString(), "-cp", jars, "--release", release));
        ClassPaths.shared(program.source.getParent().getParent()).forEach(source -> words.add(source.toString()));
        words.add(program.source.toString());
        if (ToolProvider.getSystemJavaCompiler().run(null, null, null, words.toArray(new String[0])) != 0) {
            throw new IOException(name + " cannot be compiled");
        }
        return classes;
    }

    private void run(Path dump, Path classes, String jars) throws IOException, InterruptedException {
        Path work = Files.createDirectories(classes.resolveSibling(name + ".work"));
        List<String> words = new ArrayList<>(List.of(Tools.jdks().resolve(java + "/bin/java").toString(), "-Xmx1g", "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1", "-Djava.io.tmpdir=" + work, "-Djava.awt.headless=true",
                "-agentpath:" + Tools.agent() + "=heap=dump,doe=n,file=" + dump));
        words.addAll(program.words("options"));
        words.addAll(List.of("-cp", classes + ":" + jars, "Start", (program.isLeak ? "leaks." : "healthy.") + program.name));
        if (hasArgument) {
            words.add("mended");
        }
        Process jvm = new ProcessBuilder(words).directory(work.toFile()).redirectErrorStream(true).start();
        Thread limit = new Thread(() -> endLate(jvm));
        limit.setDaemon(true);
        limit.start();
        try (BufferedReader output = new BufferedReader(new InputStreamReader(jvm.getInputStream()))) {
            await("READY", output);
            histogram(jvm.pid(), dump);
            new ProcessBuilder("sh", "-c", "kill -QUIT " + jvm.pid()).start().waitFor();
            await("hprof-rs: dumped", output);
        } finally {
            jvm.destroyForcibly().waitFor();
        }
    }

    private static void endLate(Process jvm) {
        try {
            if (!jvm.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                jvm.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void await(String word, BufferedReader output) throws IOException {
        StringBuilder all = new StringBuilder();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.contains(word)) {
                return;
            }
            all.append(line, 0, Math.min(line.length(), 300)).append('\n');
        }
        throw new IOException(name + " ended without " + word + ":\n" + all.substring(Math.max(0, all.length() - 3_000)));
    }

    /** What the JVM itself counts: a leak that is none, or a mended version that leaks, is told at once. */
    private void histogram(long pid, Path dump) throws IOException, InterruptedException {
        Path file = Path.of(dump + ".classes.txt");
        new ProcessBuilder(System.getProperty("java.home") + "/bin/jcmd", String.valueOf(pid), "GC.class_histogram")
                .redirectOutput(file.toFile()).redirectErrorStream(true).start().waitFor();
        if (program.isLeak) {
            long most = program.words("class").stream().mapToLong(type -> instances(Program.read(file), type)).max().orElse(0);
            System.err.println("    " + most + " instances of " + program.says("class") + ", declared " + program.says("number"));
        }
    }

    /** Of a class and, for one without its package or generated, of those whose names end so. */
    private static long instances(String histogram, String type) {
        return Pattern.compile("\\s(\\d+)\\s+\\d+\\s+(?:[\\w.$]+\\.)?" + Pattern.quote(type) + "(?![\\w$])").matcher(histogram).results()
                .mapToLong(found -> Long.parseLong(found.group(1))).sum();
    }
}
