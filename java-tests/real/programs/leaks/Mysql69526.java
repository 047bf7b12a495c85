// report  MySQL bug 69526
// leaks   mysql:mysql-connector-java:5.1.41
// mended  use: stop the driver's thread
// java    8
// options -Dcopies=12
// class   java.net.URLClassLoader
// number  12
// holder  Abandoned connection cleanup thread|AbandonedConnectionCleanupThread
// reason  (?i)class loaders?\b|same (\d+ )?class|threads?\b
// change  call AbandonedConnectionCleanupThread.checkedShutdown() when the application ends
package leaks;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.sql.Driver;
import java.sql.DriverManager;

/** Deploys an application with the driver twelve times. */
public final class Mysql69526 {
    public static void main(String[] args) throws Exception {
        String jar = System.getProperty("java.class.path").replaceAll(".*?([^:]*mysql-connector[^:]*).*", "$1");
        URL[] urls = {new File(jar).toURI().toURL()};
        for (int i = 0; i < Integer.getInteger("copies"); i++) {
            URLClassLoader loader = new URLClassLoader(urls, Object.class.getClassLoader());
            Thread.currentThread().setContextClassLoader(loader);
            Class.forName("com.mysql.jdbc.NonRegisteringDriver", true, loader);
            if (args.length > 0) {
                loader.loadClass("com.mysql.jdbc.AbandonedConnectionCleanupThread").getMethod("checkedShutdown").invoke(null);
            }
            Thread.currentThread().setContextClassLoader(Object.class.getClassLoader());
        }
    }
}
