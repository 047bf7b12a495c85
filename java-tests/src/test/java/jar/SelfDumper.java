package jar;

import java.lang.management.ManagementFactory;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import javax.management.JMException;
import javax.management.JMRuntimeException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import subject.Say;

/**
 * Dumps itself by the jar: {@code dump FILE}, {@code virtual FILE}, {@code jmx FILE OPTIONS}, {@code diagnostic FILE LIVE}.
 * Asks the jar: {@code histogram}, {@code leaks}; with {@code by jmx} through the MXBean; {@code sites FILE}.
 * It knows the jar's classes by name, because they are not there when it is compiled.
 */
public class SelfDumper {
    static final SelfDumper[] KEPT = {new SelfDumper(), new SelfDumper(), new SelfDumper()};

    /** Most of this heap. */
    static final byte[][] LEAK = new byte[1000][20_000];

    public static void main(String[] args) throws Exception {
        Say.expect(3, SelfDumper.class);
        String word = Say.ready();
        while (!"exit".equals(word)) {
            Say.line("DID", done(word.split(" ")));
            word = Say.hear();
        }
        Say.line("BYE");
    }

    private static String done(String[] words) throws Exception {
        String[] answer = new String[1];
        switch (words[0]) {
            case "dump":
                return dump(words[1], "dump");
            case "sites":
                return dump(words[1], "sites");
            case "virtual":
                Runnable inside = () -> answer[0] = dump(words[1], "dump");
                Object thread = Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, inside);
                ((Thread) thread).join();
                return answer[0];
            case "histogram":
                return words.length == 1 ? histogram() : histogramByJmx();
            case "leaks":
                Object leaks = words.length == 1 ? called("leaks") : asked("leaks", new Object[0]);
                return String.valueOf(leaks).replace("\n", " | ");
            case "jmx":
                return asked("dump", words[1], words[2]);
            default:
                return asked("dumpHeap", words[1], Boolean.valueOf(words[2]));
        }
    }

    private static String dump(String file, String method) {
        try {
            return String.valueOf(dumper().getMethod(method, Path.class).invoke(null, Paths.get(file)));
        } catch (InvocationTargetException e) {
            return String.valueOf(e.getCause());
        } catch (ReflectiveOperationException e) {
            return String.valueOf(e);
        }
    }

    /** What a static method without arguments returns, or throws. */
    private static Object called(String method) throws ReflectiveOperationException {
        try {
            return dumper().getMethod(method).invoke(null);
        } catch (InvocationTargetException e) {
            return e.getCause();
        }
    }

    /** The row of this class, whether the rows are sorted, and how many there are. */
    private static String histogram() throws ReflectiveOperationException {
        Object answer = called("histogram");
        if (!(answer instanceof List)) {
            return String.valueOf(answer);
        }
        Class<?> type = Class.forName("hprofrs.ClassCount");
        String mine = "none";
        long last = Long.MAX_VALUE;
        boolean isSorted = true;
        for (Object row : (List<?>) answer) {
            long bytes = (Long) type.getMethod("getBytes").invoke(row);
            isSorted &= bytes <= last;
            last = bytes;
            mine = type.getMethod("getClassName").invoke(row).equals(SelfDumper.class.getName()) ? row.toString() : mine;
        }
        return mine + (isSorted ? "; sorted" : "; not sorted") + "; classes " + ((List<?>) answer).size();
    }

    private static String histogramByJmx() throws Exception {
        Object answer = asked("histogram", new Object[0]);
        if (!(answer instanceof CompositeData[])) {
            return String.valueOf(answer);
        }
        for (CompositeData row : (CompositeData[]) answer) {
            if (row.get("className").equals(SelfDumper.class.getName())) {
                return row.get("instances") + " instances, " + row.get("bytes") + " bytes";
            }
        }
        return "none";
    }

    private static String asked(String operation, String file, Object second) throws Exception {
        String type = second instanceof String ? String.class.getName() : "boolean";
        return String.valueOf(asked(operation, new Object[] {file, second}, String.class.getName(), type));
    }

    private static Object asked(String operation, Object[] arguments, String... types) throws Exception {
        // Twice does no harm.
        dumper().getMethod("register").invoke(null);
        dumper().getMethod("register").invoke(null);
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        try {
            return server.invoke(new ObjectName("hprofrs:type=HeapDumper"), operation, arguments, types);
        } catch (JMException | JMRuntimeException e) {
            return e.getCause();
        }
    }

    private static Class<?> dumper() throws ClassNotFoundException {
        return Class.forName("hprofrs.HeapDumper");
    }
}
