package sites;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import subject.Say;

/** Keeps books in an H2 database, with what goes wrong on the way, and prints all that the database answers. */
public final class Ledger {
    static final int ENTRIES = 2_000;
    private static final String[] QUESTIONS = {
        "select account.name, count(*), sum(amount), min(what), max(what) from entry join account on account.id = entry.account"
                + " group by account.name having count(*) > 3 order by 3 desc, 1",
        "select number, amount, sum(amount) over (partition by account order by number) from entry where number < 50 order by number",
        "select distinct upper(substring(what, 1, 8)) from entry where what like '%7' order by 1",
        "with recursive sums(n, s) as (select 1, 1 union all select n + 1, s + n + 1 from sums where n < 60) select max(s) from sums",
        "select avg(cast(amount as decimal(20, 6))), median(amount), listagg(account, '-') within group (order by number)"
                + " from entry where number between 100 and 130",
        "explain select what from entry where account = 3 and number > 17",
        "script nosettings",
    };

    private Ledger() {}

    public static void main(String[] args) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:ledger");
                Statement statement = connection.createStatement()) {
            statement.execute("create table account(id int primary key, name varchar)");
            statement.execute("create table entry(number int primary key, account int references account(id),"
                    + " amount bigint, what varchar)");
            statement.execute("insert into account select x, 'account ' || x from system_range(0, 12)");
            connection.setAutoCommit(false);
            enter(connection);
            try {
                statement.execute("insert into entry values(" + ENTRIES + ", 77, 1, 'nobody has this account')");
            } catch (SQLException e) {
                Say.line("REFUSED", e.getSQLState(), e.getMessage());
            }
            statement.execute("update entry set amount = amount * 3 where mod(number, 7) = 0");
            connection.commit();
            statement.execute("delete from entry where account > 4");
            connection.rollback();
            for (String question : QUESTIONS) {
                answer(statement, question);
            }
        }
        Say.ready();
    }

    private static void enter(Connection connection) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("insert into entry values(?, ?, ?, ?)")) {
            for (int i = 0; i < ENTRIES; i++) {
                insert.setInt(1, i);
                insert.setInt(2, i % 13);
                insert.setLong(3, i * 7919L % 10_007);
                insert.setString(4, "what " + Integer.toString(i * 31, 36));
                insert.executeUpdate();
            }
        }
    }

    private static void answer(Statement statement, String question) throws SQLException {
        try (ResultSet rows = statement.executeQuery(question)) {
            int columns = rows.getMetaData().getColumnCount();
            while (rows.next()) {
                StringBuilder row = new StringBuilder();
                for (int column = 1; column <= columns; column++) {
                    row.append('|').append(rows.getString(column));
                }
                Say.line("ROW", row);
            }
        }
    }
}
