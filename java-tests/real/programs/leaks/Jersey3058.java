// report  eclipse-ee4j/jersey#3058
// leaks   org.glassfish.jersey.core:jersey-client:2.15
// mended  org.glassfish.jersey.core:jersey-client:2.22.1
// java    8
// class   org.glassfish.jersey.client.ClientRuntime
// number  500
// holder  shutdownHooks|JerseyClient\b|CLIENT\b
// reason  (?i)one for each|(not|never) (closed|removed|shut ?down)|shutdown hook
// change  take a version whose hooks are weak references; do not configure the target for each request
package leaks;

import javax.ws.rs.client.Client;
import javax.ws.rs.client.ClientBuilder;

public final class Jersey3058 {
    static final Client CLIENT = ClientBuilder.newClient();

    public static void main(String[] args) {
        for (int i = 0; i < 500; i++) {
            CLIENT.target("http://localhost/").property("number", i).request().buildGet();
        }
    }
}
