import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.tools.ToolProvider;

/**
 * What profiles cost: loops that do nothing but allocate, small arrays or larger ones, loops that do nothing but call, a short
 * method or a longer one, threads that fight for one monitor, the H2 database under inserts and queries, and the Java compiler,
 * where the runtime has it. Each is done once before it is timed. Compiles for Java 8.
 *
 * <pre>
 * Profiled WORK...      the works to do: allocate, arrays, call, longcall, contend, h2, javac; the first four may say how many
 *                       objects or calls, as in call:1000000
 * Profiled -            the works that come on standard input, line by line; each is done once
 * </pre>
 */
public final class Profiled {
    private static final int OBJECTS = 20_000_000;
    private static final int CALLS = 50_000_000;
    private static final int COMPILATIONS = 40;
    /** Four kilobytes. */
    private static final int ARRAY_INTS = 1024;
    private static final int CONTENDERS = 4;
    private static final int SECTIONS = 20_000;
    private static final int ROWS = 50_000;
    private static final int QUERIES = 20_000;
    private static final Object MONITOR = new Object();
    private static volatile Object sink;
    private static volatile int number;

    private Profiled() {}

    public static void main(String[] works) throws Exception {
        if (works.length == 1 && works[0].equals("-")) {
            asked();
        } else {
            asTold(works);
        }
    }

    /** Does what comes line by line, and says after each how many microseconds it took, and its thread on a processor. */
    private static void asked() throws Exception {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        BufferedReader works = new BufferedReader(new InputStreamReader(System.in));
        for (String work = works.readLine(); work != null; work = works.readLine()) {
            long start = System.nanoTime();
            long cpuStart = threads.getCurrentThreadCpuTime();
            run(work);
            long cpuNanos = threads.getCurrentThreadCpuTime() - cpuStart;
            System.out.println((System.nanoTime() - start) / 1000 + " " + cpuNanos / 1000);
        }
    }

    private static void asTold(String[] works) throws Exception {
        for (final String work : works) {
            run(work);
            // Not a lambda: under the JDK's own HPROF agent, with cpu=times, none can be made.
            Subject.time(work, new Subject.Work() {
                @Override
                public void run() throws Exception {
                    Profiled.run(work);
                }
            });
        }
    }

    private static void run(String work) throws Exception {
        int colon = work.indexOf(':');
        int turns = colon < 0 ? 0 : Integer.parseInt(work.substring(colon + 1));
        switch (colon < 0 ? work : work.substring(0, colon)) {
            case "allocate": allocate(turns == 0 ? OBJECTS : turns); break;
            case "arrays": arrays(turns == 0 ? OBJECTS / 10 : turns); break;
            case "call": call(turns == 0 ? CALLS : turns); break;
            case "longcall": longCall(turns == 0 ? CALLS / 5 : turns); break;
            case "contend": contend(); break;
            case "h2": database(); break;
            case "javac": compile(); break;
            default: throw new IllegalArgumentException(work);
        }
    }

    private static void allocate(int objects) {
        for (int i = 0; i < objects; i++) {
            sink = new int[i & 7];
        }
    }

    private static void arrays(int objects) {
        for (int i = 0; i < objects; i++) {
            sink = new int[ARRAY_INTS];
        }
    }

    private static void call(int calls) {
        int sum = 0;
        for (int i = 0; i < calls; i++) {
            sum += callee(i);
        }
        number = sum;
    }

    /** Some twenty nanoseconds of work. */
    private static int callee(int seed) {
        int state = seed;
        for (int i = 0; i < 24; i++) {
            state = state * 31 + (state >>> 3) ^ i;
        }
        return state;
    }

    private static void longCall(int calls) {
        int sum = 0;
        for (int i = 0; i < calls; i++) {
            sum += longCallee(i);
        }
        number = sum;
    }

    /** Some fifty nanoseconds of work. */
    private static int longCallee(int seed) {
        int state = seed;
        for (int i = 0; i < 48; i++) {
            state = state * 31 + (state >>> 3) ^ i;
        }
        return state;
    }

    /** Half of the work is done inside of the monitor, half outside. */
    private static void contend() throws Exception {
        Thread[] threads = new Thread[CONTENDERS];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> {
                for (int i = 0; i < SECTIONS; i++) {
                    number = spin(i);
                    synchronized (MONITOR) {
                        number = spin(i);
                    }
                }
            });
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static int spin(int seed) {
        int state = seed;
        for (int i = 0; i < 10_000; i++) {
            state = state * 31 + i;
        }
        return state;
    }

    private static void database() throws Exception {
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:");
                Statement statement = connection.createStatement()) {
            statement.execute("create table t(id int primary key, name varchar, number int)");
            try (PreparedStatement insert = connection.prepareStatement("insert into t values(?, ?, ?)")) {
                for (int i = 0; i < ROWS; i++) {
                    insert.setInt(1, i);
                    insert.setString(2, "row " + i);
                    insert.setInt(3, i * 31 % 1000);
                    insert.executeUpdate();
                }
            }
            for (int i = 0; i < 10; i++) {
                count(statement.executeQuery("select number, count(*), max(name) from t group by number order by 2"));
            }
            try (PreparedStatement query = connection.prepareStatement("select name, number from t where id between ? and ?")) {
                for (int i = 0; i < QUERIES; i++) {
                    query.setInt(1, i);
                    query.setInt(2, i + 10);
                    count(query.executeQuery());
                }
            }
        }
    }

    /** The Java compiler on the sources of the folder that -Dsources names, again and again; -Dclasses takes what it makes. */
    private static void compile() throws Exception {
        List<String> words = new ArrayList<>(Arrays.asList("-proc:none", "-nowarn", "-d", System.getProperty("classes")));
        try (DirectoryStream<Path> files = Files.newDirectoryStream(Paths.get(System.getProperty("sources")), "*.java")) {
            for (Path file : files) {
                words.add(file.toString());
            }
        }
        for (int i = 0; i < COMPILATIONS; i++) {
            int answer = ToolProvider.getSystemJavaCompiler().run(null, null, null, words.toArray(new String[0]));
            if (answer != 0) {
                throw new IllegalStateException("the compiler answered " + answer);
            }
        }
    }

    private static void count(ResultSet rows) throws Exception {
        while (rows.next()) {
            sink = rows.getObject(1);
        }
        rows.close();
    }
}
