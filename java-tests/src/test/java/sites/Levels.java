package sites;

import java.util.Arrays;
import java.util.LinkedHashMap;
import subject.Say;

/** Calls itself once for each argument; each call makes an object of a class with many constructors. */
public class Levels {
    public static void main(String[] args) {
        new LinkedHashMap<>();
        if (args.length == 0) {
            Say.ready();
        } else {
            main(Arrays.copyOf(args, args.length - 1));
        }
    }
}
