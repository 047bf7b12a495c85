package harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;

/** One Java runtime of this machine. */
public final class Jdk {
    public final Path home;
    public final String version;
    public final int major;
    private Set<Collector> collectors;

    private Jdk(Path home, String version) {
        this.home = home;
        this.version = version;
        String[] parts = version.split("[._+-]");
        major = Integer.parseInt(parts[0].equals("1") ? parts[1] : parts[0]);
    }

    static Jdk at(Path home) {
        Command asked = Command.run(home.resolve("bin/java"), "-version").good();
        return new Jdk(home, asked.err.replaceAll("(?s).*?version \"([^\"]+)\".*", "$1"));
    }

    /** One that this machine does not have. */
    static Jdk missing(int major) {
        return new Jdk(Tools.jdks().resolve("" + major), major + "-missing");
    }

    /** Its launcher. Ends the test if it is missing, and skips it if -Djdk names other runtimes. */
    public Path java() {
        Jdks.mustServe(this);
        return home.resolve("bin/java");
    }

    /** Whether it has this module; Java 8 has none. */
    public boolean has(String module) {
        return major > 8 && Command.run(java(), "--list-modules").good().out.contains(module + "@");
    }

    /** Its processor as `os.arch` has it, for example `aarch64`. An emulated one is not this machine's. */
    public String processor() {
        Command asked = Command.run(java(), "-XshowSettings:properties", "-version").good();
        return asked.err.replaceAll("(?s).*\\bos\\.arch = (\\S+).*", "$1");
    }

    /** The collectors it has, asked once. */
    public synchronized Set<Collector> collectors() {
        if (collectors == null) {
            collectors = EnumSet.noneOf(Collector.class);
            for (Collector collector : Collector.values()) {
                Command tried = Command.run(java(), "-XX:+UnlockExperimentalVMOptions", collector.option, "-version");
                if (tried.exit == 0) {
                    collectors.add(collector);
                }
            }
        }
        return collectors;
    }

    /** Its jcmd, or that of another runtime: the attach protocol is the same. */
    public Path jcmd() {
        Path own = home.resolve("bin/jcmd");
        return Files.exists(own) ? own : Jdks.newest(25).home.resolve("bin/jcmd");
    }

    @Override
    public String toString() {
        return version;
    }
}
