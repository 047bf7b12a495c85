package rewriting;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.List;

/** Loads and links all classes that a file names, and initializes none; prints what failed, and how many did not. */
public final class Linking {
    private Linking() {}

    public static void main(String[] arguments) throws IOException {
        List<String> names = Files.readAllLines(Paths.get(arguments[0]));
        System.out.println("LINKED " + names.parallelStream().filter(Linking::links).count());
    }

    private static boolean links(String name) {
        try {
            // HotSpot links a class before it lists the constructors.
            Class.forName(name, false, ClassLoader.getSystemClassLoader()).getDeclaredConstructors();
            return true;
        } catch (Throwable e) {
            System.out.println("FAULT " + name + " " + e.toString().replace('\n', ' '));
            return false;
        }
    }
}
