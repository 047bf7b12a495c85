// report  jetty/jetty.project#2860
// leaks   org.eclipse.jetty:jetty-client:9.4.11.v20180605
// mended  org.eclipse.jetty:jetty-client:9.4.12.v20180830
// java    11
// class   org.eclipse.jetty.client.http.HttpDestinationOverHTTP
// number  2000
// holder  HttpClient\b|destinations
// reason  (?i)one for each|differ only in|no connection|idle|empty
// change  take a version that drops a destination it cannot reach
package leaks;

import org.eclipse.jetty.client.HttpClient;

/** Asks hosts that are not there. */
public final class Jetty2860 {
    static final HttpClient CLIENT = new HttpClient();

    public static void main(String[] args) throws Exception {
        CLIENT.setRemoveIdleDestinations(true);
        CLIENT.setSocketAddressResolver((host, port, promise) -> promise.failed(new java.net.UnknownHostException(host)));
        CLIENT.start();
        for (int i = 0; i < 2000; i++) {
            try {
                CLIENT.GET("http://host-" + i + ".example/");
            } catch (java.util.concurrent.ExecutionException e) {
                // As it is meant.
            }
        }
    }
}
