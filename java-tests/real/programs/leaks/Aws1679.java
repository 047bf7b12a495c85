// report  aws/aws-sdk-java-v2#1679
// leaks   software.amazon.awssdk:apache-client:2.20.80
// mended  use: close the client
// java    17
// class   org.apache.http.impl.conn.PoolingHttpClientConnectionManager
// number  1500
// holder  IdleConnectionReaper\b
// reason  (?i)(not|never) (closed|shut ?down)|\bopen\b
// change  close each client, or share one
package leaks;

import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.apache.ApacheHttpClient;

public final class Aws1679 {
    public static void main(String[] args) {
        for (int i = 0; i < 1500; i++) {
            SdkHttpClient client = ApacheHttpClient.builder().build();
            if (args.length > 0) {
                client.close();
            }
        }
    }
}
