// report  apache/servicecomb-java-chassis#1193
// leaks   org.apache.logging.log4j:log4j-api:2.20.0
// mended  use: one marker
// java    21
// class   org.apache.logging.log4j.MarkerManager$Log4jMarker
// number  50000
// holder  MARKERS|MarkerManager\b(?!\$)
// reason  (?i)differ only in|trace-|names made|one for each
// change  do not put the id of a request into the name of a marker
package leaks;

import org.apache.logging.log4j.MarkerManager;

public final class ServiceComb1193 {
    public static void main(String[] args) {
        for (int i = 0; i < 50_000; i++) {
            MarkerManager.getMarker(args.length > 0 ? "invocation" : "invocation-trace-" + i);
        }
    }
}
