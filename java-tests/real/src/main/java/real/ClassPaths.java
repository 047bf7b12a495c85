package real;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Which jars a run needs: Maven is asked once for all, and its answers are kept. */
final class ClassPaths {
    private static final String PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath";
    private final Path folder;

    ClassPaths(Path folder) {
        this.folder = folder;
    }

    /** The jars of libraries, which are written `group:artifact:version` with blanks between them, or `-` for none. */
    String of(String libraries) throws IOException {
        Path file = folder(libraries).resolve("class-path");
        if (libraries.equals("-")) {
            return "";
        }
        if (!Files.exists(file)) {
            throw new IOException("Maven has not found " + libraries);
        }
        return Files.readString(file).trim();
    }

    private Path folder(String libraries) {
        return folder.resolve(libraries.replaceAll("[^\\w.-]+", "_"));
    }

    /** Asks for those that are not known yet. */
    void find(List<Run> runs) throws IOException, InterruptedException {
        List<String> unknown = runs.stream().map(run -> run.libraries).distinct()
                .filter(libraries -> !libraries.equals("-") && !Files.exists(folder(libraries).resolve("class-path"))).collect(Collectors.toList());
        if (unknown.isEmpty()) {
            return;
        }
        for (String libraries : unknown) {
            String dependencies = Arrays.stream(libraries.split(" ")).map(ClassPaths::dependency).collect(Collectors.joining());
            write(folder(libraries), "<packaging>jar</packaging><dependencies>" + dependencies + "</dependencies>");
        }
        String modules = unknown.stream().map(libraries -> "<module>" + folder(libraries).getFileName() + "</module>").collect(Collectors.joining());
        write(folder, "<packaging>pom</packaging><modules>" + modules + "</modules>");
        Process maven = new ProcessBuilder("mvn", "--batch-mode", "--quiet", "--no-transfer-progress", "--fail-at-end",
                "-Dstyle.color=never", "-f", folder.toString(), PLUGIN, "-Dmdep.outputFile=class-path")
                .redirectOutput(ProcessBuilder.Redirect.to(folder.resolve("maven.log").toFile())).redirectErrorStream(true).start();
        if (maven.waitFor() != 0) {
            System.err.println("see " + folder.resolve("maven.log"));
        }
    }

    private static String dependency(String library) {
        String[] parts = library.split(":");
        return "<dependency><groupId>" + parts[0] + "</groupId><artifactId>" + parts[1] + "</artifactId><version>" + parts[2]
                + "</version></dependency>";
    }

    private static void write(Path folder, String content) throws IOException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve("pom.xml"), "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>"
                + "<groupId>real</groupId><artifactId>of-" + folder.getFileName() + "</artifactId><version>1</version>" + content + "</project>");
    }

    /** The sources that every program is compiled with. */
    static List<Path> shared(Path programs) {
        return List.of(programs.resolve("Start.java"), programs.resolve("Background.java"));
    }
}
