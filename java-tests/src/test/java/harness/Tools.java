package harness;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Where the things under test and their judges are; an error names how to get what is missing. */
public final class Tools {
    /** The folder java-tests/. */
    static final Path PROJECT = Paths.get(System.getProperty("basedir", "")).toAbsolutePath();

    private static final Path TARGET = PROJECT.resolveSibling("target");

    /** Where what is under test was built: by the profile quick of Cargo.toml, or with -Dbuild=release as it is shipped. */
    private static final Path BUILT = TARGET.resolve(System.getProperty("build", "quick"));

    private Tools() {}

    /** The folder of the project. */
    public static Path project() {
        return PROJECT.getParent();
    }

    /** The agent library. */
    public static Path agent() {
        return needed("agent", BUILT.resolve("libhprof_rs.so"), "build it with `make quick`");
    }

    /** The `hprof` command. */
    public static Path command() {
        return needed("command", BUILT.resolve("hprof"), "build it with `make quick`");
    }

    /** Our own jar, with the agent inside. */
    public static Path ownJar() {
        return needed("jar", PROJECT.resolveSibling("java/hprof-rs/target/hprof-rs-0.1.0.jar"), "build it with `make jar`");
    }

    /** The example of the crate bytecode that rewrites classes. */
    static Path rewriter() {
        return needed("rewriter", BUILT.resolve("examples/rewrite_classes"), "build it with `make quick`");
    }

    static Path slurp() {
        return needed("slurp", TARGET.resolve("readers/bin/hprof-slurp"), "fetch it with tools/fetch-readers.sh");
    }

    /** The program of tools/hprof-analyzer/. */
    static Path analyzer() {
        return needed("analyzer", TARGET.resolve("readers/bin/retained-sizes"), "build it with tools/fetch-readers.sh hprof-analyzer");
    }

    public static Path jdks() {
        return needed("jdks", TARGET.resolve("jdks"), "fetch them with tools/fetch-jdks.sh");
    }

    /** The jar of the class path whose name begins so: a program under test that is not our own. */
    public static Path jar(String start) {
        return jars().stream().filter(file -> file.getFileName().toString().startsWith(start))
                .findFirst().orElseThrow(() -> new IllegalStateException("no " + start + "*.jar in " + jars()));
    }

    /** The class path of the tests: a program under test that has many jars. */
    public static List<Path> jars() {
        String path = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        return Arrays.stream(path.split(":")).map(Paths::get).filter(file -> file.toString().endsWith(".jar"))
                .collect(Collectors.toList());
    }

    public static Path subjects() {
        return PROJECT.resolve("target/test-classes");
    }

    /** A program of gprof2dot's and hprof2flamegraph's packages, to be run by python3. */
    static Path python(String name) {
        return needed("python", TARGET.resolve("readers/python"), "fetch it with tools/fetch-readers.sh").resolve(name);
    }

    /** The answers to the questions of docs/sql.md over a folder of exports: by question, rows of columns. */
    public static JsonObject questions(String engine, Path exports) {
        Path library = needed("sql-engines", TARGET.resolve("readers/" + engine), "fetch it with tools/fetch-readers.sh " + engine);
        String answers = Command.run("env", "PYTHONPATH=" + library, "python3", PROJECT.resolveSibling("tools/sql-test/questions.py"),
                engine, PROJECT.resolveSibling("docs/sql.md"), exports).good().out;
        return JsonParser.parseString(answers).getAsJsonObject();
    }

    /** All rows of all tables in a folder of one export, as DuckDB reads them. */
    public static String rows(Path export) {
        return duckdb("import duckdb, glob\nfor file in glob.glob('" + export + "/*.parquet'):\n"
                + "    for row in duckdb.sql(f\"SELECT * FROM '{file}'\").fetchall(): print(row)");
    }

    private static String duckdb(String script) {
        Path library = needed("sql-engines", TARGET.resolve("readers/duckdb"), "fetch it with tools/fetch-readers.sh duckdb");
        return Command.run("env", "PYTHONPATH=" + library, "python3", "-c", script).good().out;
    }

    /** The data that the page of `hprof report` shows, as its script has them. */
    public static JsonObject pageData(Path page) {
        String start = "<script type=\"application/json\" id=\"data\">";
        try {
            String text = Files.readString(page);
            int from = text.indexOf(start) + start.length();
            return JsonParser.parseString(text.substring(from, text.indexOf("</script>", from))).getAsJsonObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What `hprof mcp` with these words answers to calls of the protocol's own client: see tools/mcp-test/ask.py. */
    public static JsonObject askMcp(List<Object> words, String... calls) {
        Path library = needed("mcp", TARGET.resolve("readers/mcp"), "fetch it with tools/fetch-readers.sh");
        List<Object> all = new ArrayList<>(List.of("env", "PYTHONPATH=" + library, "python3",
                PROJECT.resolveSibling("tools/mcp-test/ask.py"), command()));
        all.addAll(words);
        all.add("--");
        all.addAll(List.of(calls));
        return JsonParser.parseString(Command.run(all.toArray()).good().out).getAsJsonObject();
    }

    /** The source of a subject, by its path from src/test/java. */
    public static Path source(String name) {
        return PROJECT.resolve("src/test/java").resolve(name);
    }

    /** The line of a source, counted from 1, that has this text. */
    public static int line(String name, String text) {
        try {
            List<String> lines = Files.readAllLines(source(name));
            for (int i = 0; i < lines.size(); i++) {
                if (lines.get(i).contains(text)) {
                    return i + 1;
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        throw new AssertionError(name + " has no line with: " + text);
    }

    /** A file that stays after the test, under target/. */
    public static Path report(String folder, String name) {
        try {
            return Files.createDirectories(PROJECT.resolve("target").resolve(folder)).resolve(name);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path needed(String property, Path standard, String remedy) {
        Path path = Paths.get(System.getProperty(property, standard.toString())).toAbsolutePath().normalize();
        if (!Files.exists(path)) {
            throw new IllegalStateException(path + " is missing: " + remedy + ", or name another with -D" + property + "=PATH");
        }
        return path;
    }
}
