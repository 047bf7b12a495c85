package agreement;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Random;
import subject.Say;

/**
 * The H2 database in memory under four clients that query and change it. The argument is the number of
 * rounds to get warm, and each word a number of further rounds, after which it is ready again; after the word `exit` it ends.
 */
public class Database {
    static final int ROWS = 20_000;
    private static final String URL = "jdbc:h2:mem:agreement";
    private static final int CLIENTS = 4;
    static volatile Object sink;
    private static volatile Throwable wrong;

    public static void main(String[] args) throws Exception {
        try (Connection connection = DriverManager.getConnection(URL)) {
            fill(connection);
            work(Integer.parseInt(args[0]));
            for (String word = Say.ready(); !word.equals("exit"); word = Say.ready()) {
                work(Integer.parseInt(word));
            }
        }
    }

    static void fill(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("create table item(id int primary key, name varchar, amount int)");
            statement.execute("insert into item select x, 'name ' || x, x * 31 % 1000 from system_range(1, " + ROWS + ")");
            statement.execute("create table event(client int, number int, what varchar, primary key(client, number))");
        }
    }

    private static void work(int rounds) throws Exception {
        Thread[] clients = new Thread[CLIENTS];
        for (int i = 0; i < CLIENTS; i++) {
            int number = i;
            clients[i] = new Thread(() -> client(number, rounds), "client " + i);
            clients[i].start();
        }
        for (Thread client : clients) {
            client.join();
        }
        if (wrong != null) {
            throw new IllegalStateException(wrong);
        }
    }

    private static void client(int number, int rounds) {
        Random random = new Random(number);
        try (Connection connection = DriverManager.getConnection(URL)) {
            for (int i = 0; i < rounds; i++) {
                some(connection, random);
                groups(connection);
                likes(connection, random);
                changes(connection, number);
            }
        } catch (SQLException e) {
            wrong = e;
        }
    }

    private static void some(Connection connection, Random random) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement("select name, amount from item where id between ? and ?")) {
            for (int i = 0; i < 20; i++) {
                int first = random.nextInt(ROWS);
                query.setInt(1, first);
                query.setInt(2, first + 20);
                read(query);
            }
        }
    }

    private static void groups(Connection connection) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement(
                "select amount, count(*), max(name) from item where id > ? group by amount order by 2 desc, 3")) {
            query.setInt(1, ROWS / 4 * 3);
            read(query);
        }
    }

    private static void likes(Connection connection, Random random) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement(
                "select count(*) from item where name like ? and upper(name) <> 'NAME'")) {
            query.setString(1, "%" + random.nextInt(100) + "%");
            read(query);
        }
    }

    private static void changes(Connection connection, int client) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("insert into event values(?, ?, ?)");
                PreparedStatement delete = connection.prepareStatement("delete from event where client = ?")) {
            for (int i = 0; i < 50; i++) {
                insert.setInt(1, client);
                insert.setInt(2, i);
                insert.setString(3, "what " + i);
                insert.executeUpdate();
            }
            delete.setInt(1, client);
            delete.executeUpdate();
        }
    }

    /** Runs a query and reads all that it gives. */
    static void read(PreparedStatement query) throws SQLException {
        try (ResultSet rows = query.executeQuery()) {
            while (rows.next()) {
                sink = rows.getObject(1);
            }
        }
    }
}
