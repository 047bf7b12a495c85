package values;

import java.util.ArrayList;
import java.util.List;
import subject.Definer;
import subject.Say;

/** Classes with names that no compiler makes, and two classes of one name. */
public class StrangeNames {
    static final List<Object> KEPT = new ArrayList<>();

    public static void main(String[] args) {
        Definer loader = new Definer();
        String[] names = {"strange/\ud835\udd38\ud83d\ude00", "strange/caf\u00e9", "strange/with blank", "strange/-"};
        for (String name : names) {
            Object object = loader.instance(name);
            KEPT.add(object);
            Say.line("NAMED", 1, Say.escape(name.replace('/', '.')));
        }
        KEPT.add(loader.instance("strange/lone\ud83dsurrogate"));
        for (int i = 0; i < 3; i++) {
            KEPT.add(new Definer().instance("strange/Twin"));
        }
        Say.line("NAMED", 3, "strange.Twin");
        Say.ready();
    }
}
