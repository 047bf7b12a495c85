package agreement;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.Phaser;
import subject.Say;

/**
 * Four clients of the H2 database who share two connections, each under its monitor: one for reports, which take long, and one
 * for entries in a journal, which are short and many. The monitors inside of H2 are fought for, too, now and then.
 */
public class Pool {
    /** The connection for reports. */
    static class Reports {
        private final PreparedStatement query;

        Reports(Connection connection) throws SQLException {
            query = connection.prepareStatement("select count(*) from item where name like ? and upper(name) <> 'NAME'");
        }

        synchronized void read(int number) throws SQLException {
            query.setString(1, "%" + number + "%");
            Database.read(query);
        }
    }

    /** The connection for entries. */
    static class Journal {
        private final PreparedStatement insert;
        private int entries;

        Journal(Connection connection) throws SQLException {
            insert = connection.prepareStatement("insert into event values(?, ?, ?)");
        }

        synchronized void write(int client) throws SQLException {
            for (int i = 0; i < 60; i++) {
                insert.setInt(1, client);
                insert.setInt(2, entries++);
                insert.setString(3, "entry");
                insert.executeUpdate();
            }
        }
    }

    private static final String URL = "jdbc:h2:mem:pool";
    private static final int CLIENTS = 4;
    private static final int ROUNDS = 30;
    /** Has all come to the journal at once; a monitor would be one more to be fought for. */
    private static final Phaser AT_THE_JOURNAL = new Phaser(CLIENTS);
    private static volatile Throwable wrong;

    public static void main(String[] args) throws Exception {
        try (Connection first = DriverManager.getConnection(URL); Connection second = DriverManager.getConnection(URL)) {
            Database.fill(first);
            Reports reports = new Reports(first);
            Journal journal = new Journal(second);
            Thread[] clients = new Thread[CLIENTS];
            for (int i = 0; i < CLIENTS; i++) {
                int number = i;
                clients[i] = new Thread(() -> client(reports, journal, number), "client " + i);
                clients[i].start();
            }
            for (Thread client : clients) {
                client.join();
            }
        }
        if (wrong != null) {
            throw new IllegalStateException(wrong);
        }
        Say.ready();
    }

    private static void client(Reports reports, Journal journal, int number) {
        try (Connection own = DriverManager.getConnection(URL);
                PreparedStatement query = own.prepareStatement("select max(name) from item where id between ? and ?")) {
            for (int i = 0; i < ROUNDS; i++) {
                reports.read(i);
                AT_THE_JOURNAL.arriveAndAwaitAdvance();
                for (int j = 0; j < 4; j++) {
                    journal.write(number);
                    query.setInt(1, i);
                    query.setInt(2, i + 200);
                    Database.read(query);
                }
            }
        } catch (SQLException e) {
            wrong = e;
        } finally {
            AT_THE_JOURNAL.arriveAndDeregister();
        }
    }
}
