// report  netty/netty#10351
// leaks   io.netty:netty-codec-http:4.1.15.Final
// mended  io.netty:netty-codec-http:4.1.68.Final
// java    11
// class   java.lang.String
// number  20000
// holder  DeleteOnExitHook\b
// reason  (?i)delete\w* (on|at) exit|deleteOnExit\b|file names?|differ only in
// change  take a version that forgets the file, or set DiskAttribute.deleteOnExitTemporaryFile to false
package leaks;

import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.multipart.Attribute;
import io.netty.handler.codec.http.multipart.DefaultHttpDataFactory;

public final class Netty10351 {
    public static void main(String[] args) throws Exception {
        DefaultHttpDataFactory factory = new DefaultHttpDataFactory(true);
        for (int i = 0; i < 20_000; i++) {
            HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/");
            Attribute attribute = factory.createAttribute(request, "field");
            attribute.setValue("value " + i);
            factory.cleanRequestHttpData(request);
            if (attribute.refCnt() > 0) {
                attribute.release();
            }
        }
    }
}
