import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;

/**
 * What sampled allocations cost: a loop that does nothing but allocate, and the H2 database under inserts and queries.
 * Each is done once before it is timed. Compiles for Java 8.
 */
public final class Allocating {
    private static final int LOOP_OBJECTS = 100_000_000;
    private static final int ROWS = 100_000;
    private static final int QUERIES = 40_000;
    private static volatile Object sink;

    private Allocating() {}

    public static void main(String[] args) throws Exception {
        loop();
        Subject.time("loop", Allocating::loop);
        database();
        Subject.time("h2", Allocating::database);
    }

    private static void loop() {
        for (int i = 0; i < LOOP_OBJECTS; i++) {
            sink = new int[i & 7];
        }
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
