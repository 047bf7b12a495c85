import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;

/**
 * What profiles cost: a loop that does nothing but allocate, one that does nothing but call, threads that fight for one
 * monitor, and the H2 database under inserts and queries. Each is done once before it is timed. Compiles for Java 8.
 *
 * <pre>
 * Profiled WORK...      the works to do: allocate, call, contend, h2
 * </pre>
 */
public final class Profiled {
    private static final int OBJECTS = 20_000_000;
    private static final int CALLS = 50_000_000;
    private static final int CONTENDERS = 4;
    private static final int SECTIONS = 20_000;
    private static final int ROWS = 50_000;
    private static final int QUERIES = 20_000;
    private static final Object MONITOR = new Object();
    private static volatile Object sink;
    private static volatile int number;

    private Profiled() {}

    public static void main(String[] works) throws Exception {
        for (String work : works) {
            run(work);
            Subject.time(work, () -> run(work));
        }
    }

    private static void run(String work) throws Exception {
        switch (work) {
            case "allocate": allocate(); break;
            case "call": call(); break;
            case "contend": contend(); break;
            case "h2": database(); break;
            default: throw new IllegalArgumentException(work);
        }
    }

    private static void allocate() {
        for (int i = 0; i < OBJECTS; i++) {
            sink = new int[i & 7];
        }
    }

    private static void call() {
        int sum = 0;
        for (int i = 0; i < CALLS; i++) {
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

    private static void count(ResultSet rows) throws Exception {
        while (rows.next()) {
            sink = rows.getObject(1);
        }
        rows.close();
    }
}
