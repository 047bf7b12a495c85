// report  HHH-12469
// leaks   org.hibernate:hibernate-core:5.2.18.Final com.h2database:h2:1.4.200
// mended  use: hibernate.query.in_clause_parameter_padding
// java    8
// class   org.hibernate.engine.query.spi.HQLQueryPlan
// number  300
// holder  queryPlanCache|QueryPlanCache\b
// reason  (?i)differ only in|length of (a|the) list|same (query|text)
// change  set hibernate.query.in_clause_parameter_padding
package leaks;

import java.util.ArrayList;
import java.util.List;
import javax.persistence.Entity;
import javax.persistence.Id;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;

public final class Hibernate12469 {
    static SessionFactory factory;

    @Entity(name = "Item")
    public static class Item {
        @Id
        long id;
    }

    public static void main(String[] args) {
        factory = new Configuration().addAnnotatedClass(Item.class).setProperty("hibernate.connection.url", "jdbc:h2:mem:items;DB_CLOSE_DELAY=-1")
                .setProperty("hibernate.dialect", "org.hibernate.dialect.H2Dialect").setProperty("hibernate.hbm2ddl.auto", "create")
                .setProperty("hibernate.query.in_clause_parameter_padding", String.valueOf(args.length > 0)).buildSessionFactory();
        List<Long> ids = new ArrayList<>();
        try (Session session = factory.openSession()) {
            for (long i = 0; i < 300; i++) {
                ids.add(i);
                {
                    session.createQuery("from Item i where i.id in (:ids)").setParameterList("ids", ids).list();
                }
            }
        }
    }
}
