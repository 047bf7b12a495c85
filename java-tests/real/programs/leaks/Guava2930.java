// report  google/guava#2930
// leaks   com.google.guava:guava:31.1-jre
// mended  use: unregister the window
// java    17
// class   leaks.Guava2930$Window com.google.common.eventbus.Subscriber
// number  20000
// holder  BUS\b|SubscriberRegistry\b|subscribers
// reason  (?i)(not|never) (unregistered|removed|closed)|closed = true|\bclosed\b
// change  unregister each window when it closes
package leaks;

import com.google.common.eventbus.EventBus;
import com.google.common.eventbus.Subscribe;

public final class Guava2930 {
    static final EventBus BUS = new EventBus();

    public static final class Window {
        final char[] title = new char[60];
        boolean closed;

        @Subscribe
        public void changed(Integer price) {
            title[0]++;
        }

        void close(boolean isMended) {
            closed = true;
            if (isMended) {
                BUS.unregister(this);
            }
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 20_000; i++) {
            Window window = new Window();
            BUS.register(window);
            window.close(args.length > 0);
        }
    }
}
