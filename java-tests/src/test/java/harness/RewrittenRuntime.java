package harness;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * A runtime some of whose own classes call the tracker, from the JVM's first instruction on: they are in jars that come
 * before the runtime's modules. Nobody sets the tracker's flag, so no native method is called; none is there.
 */
public final class RewrittenRuntime {
    /** A class that is put into the first module, too, and which no verifier may let pass. */
    public static final String BROKEN = "java.lang.HprofBroken1";

    private static final String TRACKER = "java/lang/HprofTracker.class";

    public final Rewriting rewriting;
    /** The names of all classes that are rewritten, as {@code Class.forName} takes them. */
    public final List<String> classes = new ArrayList<>();
    public final Jdk jdk;
    private final Path folder;
    private final Map<String, ZipOutputStream> open = new TreeMap<>();

    private RewrittenRuntime(Jdk jdk, Predicate<String> modules, Path folder) {
        this.jdk = jdk;
        this.folder = folder;
        ClassFiles old = ClassFiles.of(jdk, modules, folder.resolve("old.classes"));
        rewriting = Rewriting.of(old, Rewriting.EVERYTHING, folder.resolve("new.classes"));
        try {
            rewriting.result.forEach(this::add);
            for (ZipOutputStream jar : open.values()) {
                jar.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Rewrites these modules of a runtime, or jars with Java 8; what that needs of files is put into the folder. */
    public static RewrittenRuntime of(Jdk jdk, Predicate<String> modules, Path folder) {
        return new RewrittenRuntime(jdk, modules, folder);
    }

    /** The module, or the jar of Java 8, that holds {@code java.lang}. */
    public static String base(Jdk jdk) {
        return jdk.major == 8 ? "rt" : "java.base";
    }

    /** The jar from which {@code java.lang} is loaded. */
    public Path base() {
        return jar(base(jdk));
    }

    /** What makes a JVM take the rewritten classes. */
    public String[] switches() {
        if (jdk.major == 8) {
            return new String[] {"-Xbootclasspath/p:"
                    + open.keySet().stream().map(name -> jar(name).toString()).collect(Collectors.joining(":"))};
        }
        return open.keySet().stream().map(name -> "--patch-module=" + name + "=" + jar(name)).toArray(String[]::new);
    }

    private Path jar(String module) {
        return folder.resolve(module + ".jar");
    }

    private void add(String name, byte[] bytes) {
        if (name.equals(TRACKER)) {
            put(base(jdk), TRACKER, bytes);
            put(base(jdk), BROKEN.replace('.', '/') + ".class", broken(bytes));
            return;
        }
        String path = name.substring(name.indexOf('/') + 1);
        // What stands in META-INF or describes a module is no class to be loaded.
        if (!path.startsWith("META-INF/") && !path.endsWith("module-info.class")) {
            put(name.substring(0, name.indexOf('/')), path, bytes);
            classes.add(path.replaceAll("\\.class$", "").replace('/', '.'));
        }
    }

    private void put(String module, String path, byte[] bytes) {
        try {
            ZipOutputStream jar = open.get(module);
            if (jar == null) {
                jar = new ZipOutputStream(new BufferedOutputStream(Files.newOutputStream(jar(module))));
                jar.setLevel(Deflater.NO_COMPRESSION);
                open.put(module, jar);
            }
            jar.putNextEntry(new ZipEntry(path));
            jar.write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The tracker with another name, and with aload_0 for iload_0 before invokestatic. */
    private static byte[] broken(byte[] tracker) {
        return new String(tracker, ISO_8859_1).replace("HprofTracker", BROKEN.substring("java.lang.".length()))
                .replace("\u001a\u00b8", "\u002a\u00b8").getBytes(ISO_8859_1);
    }
}
