// uses     com.h2database:h2:2.1.214
// java     17
// largest  (?i)h2
package healthy;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;

/** A database in memory with its data. */
public final class H2WithData {
    static Connection connection;

    public static void main(String[] args) throws Exception {
        connection = DriverManager.getConnection("jdbc:h2:mem:shop");
        connection.createStatement().execute("create table customer(id int primary key, name varchar, town varchar)");
        try (PreparedStatement insert = connection.prepareStatement("insert into customer values(?, ?, ?)")) {
            for (int i = 0; i < 50_000; i++) {
                insert.setInt(1, i);
                insert.setString(2, "customer number " + i);
                insert.setString(3, "town " + i % 100);
                insert.execute();
            }
        }
    }
}
