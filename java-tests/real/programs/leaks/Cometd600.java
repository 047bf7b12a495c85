// report  cometd/cometd#600
// leaks   ch.qos.logback:logback-classic:1.2.11
// mended  use: one name for the class
// java    11
// class   ch.qos.logback.classic.Logger
// number  40000
// holder  loggerCache|LoggerContext\b
// reason  (?i)differ only in|session-|names made
// change  name loggers by classes, and put the session into the MDC
package leaks;

import org.slf4j.LoggerFactory;

public final class Cometd600 {
    public static void main(String[] args) {
        for (int i = 0; i < 40_000; i++) {
            LoggerFactory.getLogger(args.length > 0 ? "session" : "session-" + i).debug("opened");
        }
    }
}
