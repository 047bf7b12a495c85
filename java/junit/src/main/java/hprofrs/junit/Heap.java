package hprofrs.junit;

import hprofrs.HeapDumper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;

/** The heap of this JVM. Each question makes a dump in a temporary file, and deletes it. */
public final class Heap {
    static final Heap NOW = new Heap();

    private Heap() {}

    /** The instances of exactly this class that a root reaches without weak, soft or phantom references. */
    Instances instances(Class<?> type) {
        if (!type.isArray() && Modifier.isAbstract(type.getModifiers())) {
            throw new IllegalArgumentException("no object is exactly of " + type.getTypeName() + ", which is "
                    + (type.isPrimitive() ? "primitive" : type.isInterface() ? "an interface" : "abstract")
                    + ": name the classes of the objects");
        }
        try {
            Path folder = Files.createTempDirectory("hprof-rs");
            Path dump = folder.resolve("heap.hprof");
            try {
                HeapDumper.dump(dump);
                return Instances.in(dump, type.getTypeName());
            } finally {
                Files.deleteIfExists(dump);
                Files.delete(folder);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the heap cannot be looked into: " + e.getMessage(), e);
        }
    }
}
