package times;

/** Starts threads of native code that leave the JVM late (see late.c). */
public class LateThreads {
    static native void run(int count);

    public static void main(String[] args) {
        System.load(args[0]);
        run(20);
        System.out.println("BYE");
    }
}
