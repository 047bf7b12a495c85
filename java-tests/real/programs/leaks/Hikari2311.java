// report  brettwooldridge/HikariCP#2311
// leaks   com.zaxxer:HikariCP:4.0.3 com.h2database:h2:2.1.214 org.slf4j:slf4j-nop:1.7.36
// mended  use: com.zaxxer.hikari.useWeakReferences
// java    17
// class   com.zaxxer.hikari.pool.HikariPool com.zaxxer.hikari.pool.PoolEntry com.zaxxer.hikari.util.FastList com.zaxxer.hikari.HikariDataSource
// number  200
// holder  tenant-worker
// reason  (?i)thread.?local
// change  set the property com.zaxxer.hikari.useWeakReferences, or do not make pools for threads that outlive them
package leaks;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A pool for each tenant, closed at once, used by one thread that stays. */
public final class Hikari2311 {
    static final ExecutorService WORKER = Executors.newSingleThreadExecutor(work -> new Thread(work, "tenant-worker"));

    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            System.setProperty("com.zaxxer.hikari.useWeakReferences", "true");
        }
        for (int i = 0; i < 200; i++) {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl("jdbc:h2:mem:tenant" + i);
            config.setMaximumPoolSize(1);
            try (HikariDataSource pool = new HikariDataSource(config)) {
                WORKER.submit(() -> {
                    pool.getConnection().close();
                    return null;
                }).get();
            }
        }
        WORKER.submit(() -> {}).get();
    }
}
