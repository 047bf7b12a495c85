package jar;

import java.lang.management.ManagementFactory;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;
import java.nio.file.Paths;
import javax.management.JMException;
import javax.management.JMRuntimeException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import subject.Say;

/**
 * Dumps itself by the jar: {@code dump FILE}, {@code virtual FILE}, {@code jmx FILE OPTIONS}, {@code diagnostic FILE LIVE}.
 * It knows the jar's classes by name, because they are not there when it is compiled.
 */
public class SelfDumper {
    static final SelfDumper[] KEPT = {new SelfDumper(), new SelfDumper(), new SelfDumper()};

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
                return dump(words[1]);
            case "virtual":
                Runnable inside = () -> answer[0] = dump(words[1]);
                Object thread = Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, inside);
                ((Thread) thread).join();
                return answer[0];
            case "jmx":
                return asked("dump", words[1], words[2]);
            default:
                return asked("dumpHeap", words[1], Boolean.valueOf(words[2]));
        }
    }

    private static String dump(String file) {
        try {
            return (String) dumper().getMethod("dump", Path.class).invoke(null, Paths.get(file));
        } catch (InvocationTargetException e) {
            return String.valueOf(e.getCause());
        } catch (ReflectiveOperationException e) {
            return String.valueOf(e);
        }
    }

    private static String asked(String operation, String file, Object second) throws Exception {
        // Twice does no harm.
        dumper().getMethod("register").invoke(null);
        dumper().getMethod("register").invoke(null);
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        String[] types = {String.class.getName(), second instanceof String ? String.class.getName() : "boolean"};
        try {
            Object said = server.invoke(new ObjectName("hprofrs:type=HeapDumper"), operation, new Object[] {file, second}, types);
            return String.valueOf(said);
        } catch (JMException | JMRuntimeException e) {
            return String.valueOf(e.getCause());
        }
    }

    private static Class<?> dumper() throws ClassNotFoundException {
        return Class.forName("hprofrs.HeapDumper");
    }
}
