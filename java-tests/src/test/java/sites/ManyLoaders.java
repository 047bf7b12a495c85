package sites;

import subject.ClassFile;
import subject.Definer;
import subject.Say;

/** Loads classes in loaders of their own, makes objects of them, and drops all. */
public class ManyLoaders {
    static final int LOADERS = 10_000;
    static volatile Object sink;

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < LOADERS; i++) {
            Class<?> type = new Definer().define(ClassFile.named("Dropped" + i, "field"));
            for (int j = 0; j < 20; j++) {
                sink = type.getDeclaredConstructor().newInstance();
            }
        }
        sink = null;
        System.gc();
        System.gc();
        Say.ready();
    }
}
