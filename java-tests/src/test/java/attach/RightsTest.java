package attach;

import static org.junit.jupiter.api.Assertions.assertEquals;

import harness.Command;
import harness.Jdks;
import harness.Jvm;
import harness.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import lifecycle.Patient;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Root does in a JVM's folders what the JVM's user may do, and no more; only root can start another user's JVM. */
class RightsTest extends CommandTest {
    /** Mounts a /tmp with the options $TMP, in which the project is where it was, hides the folder $HIDDEN, and runs the words as nobody. */
    private static final String AS_NOBODY = String.join("\n",
            "mount -t tmpfs -o $TMP none /mnt || exit",
            "case $PROJECT in /tmp/*) seen=/mnt${PROJECT#/tmp}; mkdir -p \"$seen\" && mount --rbind \"$PROJECT\" \"$seen\" || exit ;; esac",
            "mount --move /mnt /tmp && mount -t tmpfs none \"$HIDDEN\" || exit",
            "exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$@\"");

    @TempDir Path folder;

    @BeforeEach
    void mustBeRoot() {
        mustRunOthers();
    }

    /** A /tmp that has become read-only for that user has nothing of root's either: neither a socket nor a file for answers. */
    @Test
    void nothingIsMadeWhereItsUserMayNot() throws IOException {
        try (Jvm jvm = nobodys(folder, "mode=1777")) {
            dump(jvm.pid(), "-o", "/tmp/1.hprof").good();
            Path tmp = Path.of("/proc/" + jvm.pid() + "/root/tmp");
            Command.run("chmod", "755", tmp).good();
            Files.setLastModifiedTime(tmp, FileTime.fromMillis(0));
            mustRefuse(Command.run(Tools.command(), "leaks", jvm.pid()), "Permission denied");
            assertEquals(FileTime.fromMillis(0), Files.getLastModifiedTime(tmp));
            assertEquals(0, jvm.end(), jvm.err::text);
        }
    }

    private static Jvm nobodys(Path working, String tmp) {
        Path library = Tools.command().getParent();
        return Jvm.on(Jdks.of(17), working).through("env", "TMP=" + tmp, "HIDDEN=" + library, "PROJECT=" + Tools.project(), "unshare", "-m", "sh", "-c", AS_NOBODY, "sh")
                .run(Patient.class).ready();
    }
}
