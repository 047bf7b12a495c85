package attach;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import harness.Command;
import harness.Tools;

/** What the tests of `hprof dump PID` share. */
abstract class CommandTest {
    static Command dump(long pid, Object... more) {
        Object[] all = new Object[more.length + 3];
        all[0] = Tools.command();
        all[1] = "dump";
        all[2] = pid;
        System.arraycopy(more, 0, all, 3, more.length);
        return Command.run(all);
    }

    static void mustRefuse(Command command, String why) {
        assertEquals(2, command.exit, command::toString);
        assertTrue(command.err.startsWith("hprof: ") && command.err.contains(why), () -> why + "\n" + command);
    }

    /** Only root starts programs of another user, who must be able to read them: not in a clone in root's home. */
    static void mustRunOthers() {
        assumeTrue(Command.run("id", "-u").out.trim().equals("0"), "only root runs others as another user");
        Command read = Command.run("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "test", "-r", Tools.agent());
        assumeTrue(read.exit == 0, () -> "other users may not read " + Tools.agent());
    }
}
