package harness;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.tools.attach.AgentLoadException;
import com.sun.tools.attach.VirtualMachine;

/** Loads the agent by the JDK's own library for that: Java 8 has no jcmd that does. */
public final class Attach {
    private Attach() {}

    /** Has the JVM make its {@code number}th dump, and returns its line. */
    public static String dump(Jvm jvm, int number, String options) throws Exception {
        load(jvm, "heap=dump," + options);
        return jvm.dumped(number);
    }

    /** Loads the agent, which must follow these options. */
    public static void load(Jvm jvm, String options) throws Exception {
        VirtualMachine machine = VirtualMachine.attach("" + jvm.pid());
        try {
            machine.loadAgentPath(Tools.agent().toString(), options);
        } catch (AgentLoadException e) {
            // The answer of Java 8 is the return code alone, which later ones take for a reason: "0", or "Failed to load ...: 0".
            assertTrue(e.getMessage().matches("0|.*: 0"), () -> e + "\n" + jvm.err.text());
        } finally {
            machine.detach();
        }
    }
}
