import java.util.Arrays;

/** Runs a program beside what a service has, collects garbage, and waits to be dumped. */
public final class Start {
    public static void main(String[] args) throws Exception {
        Background.fill();
        String[] rest = Arrays.copyOfRange(args, 1, args.length);
        Class.forName(args[0]).getMethod("main", String[].class).invoke(null, (Object) rest);
        for (int i = 0; i < 3; i++) {
            System.gc();
            System.runFinalization();
            Thread.sleep(200);
        }
        System.out.println("READY");
        System.in.read();
    }
}
