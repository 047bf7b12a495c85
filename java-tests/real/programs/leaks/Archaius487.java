// report  Netflix/archaius#487
// leaks   com.netflix.archaius:archaius-core:0.7.7
// mended  use: one property for the key
// java    8
// class   com.netflix.config.DynamicStringMapProperty
// number  3000
// holder  DynamicProperty\b|ALL_PROPS|callbacks
// reason  (?i)same key|\bequal\b|one for each
// change  keep the property in a static field: each new one adds a callback for ever
package leaks;

import com.netflix.config.DynamicStringMapProperty;
import java.util.Collections;
import java.util.Map;

public final class Archaius487 {
    static final Map<String, String> NONE = Collections.emptyMap();
    static final DynamicStringMapProperty LIMITS = new DynamicStringMapProperty("limits", NONE);

    public static void main(String[] args) {
        System.setProperty("limits", "a=1,b=2,c=3,d=4,e=5,f=6");
        for (int i = 0; i < 3000; i++) {
            (args.length > 0 ? LIMITS : new DynamicStringMapProperty("limits", NONE)).getMap();
        }
    }
}
