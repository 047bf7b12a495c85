// report  xerial/sqlite-jdbc#423
// leaks   org.xerial:sqlite-jdbc:3.36.0.3
// mended  org.xerial:sqlite-jdbc:3.39.2.1
// java    17
// class   org.sqlite.jdbc4.JDBC4Statement org.sqlite.jdbc4.JDBC4ResultSet org.sqlite.core.SafeStmtPtr
// number  10000
// holder  \bconnection\b|stmts|NativeDB\b
// reason  (?i)(not|never) closed|\bopen\b|result sets? (is|are) closed
// change  take a version that closes the statement with its result, or close it
package leaks;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;

public final class Sqlite423 {
    static Connection connection;

    public static void main(String[] args) throws SQLException {
        connection = DriverManager.getConnection("jdbc:sqlite::memory:");
        for (int i = 0; i < 10_000; i++) {
            try (ResultSet tables = connection.getMetaData().getTables(null, null, null, null)) {
                tables.next();
            }
        }
    }
}
