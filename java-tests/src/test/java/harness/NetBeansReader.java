package harness;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.netbeans.lib.profiler.heap.FieldValue;
import org.netbeans.lib.profiler.heap.GCRoot;
import org.netbeans.lib.profiler.heap.Heap;
import org.netbeans.lib.profiler.heap.HeapFactory;
import org.netbeans.lib.profiler.heap.Instance;
import org.netbeans.lib.profiler.heap.JavaClass;
import org.netbeans.lib.profiler.heap.JavaFrameGCRoot;
import org.netbeans.lib.profiler.heap.ObjectArrayInstance;
import org.netbeans.lib.profiler.heap.ObjectFieldValue;
import org.netbeans.lib.profiler.heap.PrimitiveArrayInstance;
import org.netbeans.lib.profiler.heap.ThreadObjectGCRoot;

/**
 * NetBeans' heap library as a judge: the strictest, and the one that knows threads and their stacks. Values are given as subjects
 * print them: numbers in decimal, chars as numbers, strings quoted, arrays with their elements, other objects as `@` and their class.
 */
public final class NetBeansReader implements Judge, AutoCloseable {
    private final Path dump;
    private final Heap heap;

    public NetBeansReader(Path dump) {
        this.dump = dump;
        try {
            heap = HeapFactory.createHeap(dump.toFile());
        } catch (IOException e) {
            throw new UncheckedIOException(dump + " refused by NetBeans' library", e);
        }
    }

    @Override
    public String name() {
        return "NetBeans";
    }

    @Override
    public Histogram histogram() {
        Histogram histogram = new Histogram();
        for (JavaClass type : classes()) {
            histogram.add(type.getName(), type.getInstancesCount());
        }
        return histogram;
    }

    /** What would go with the object that has this id. */
    public long retainedBytes(long id) {
        return heap.getInstanceByID(id).getRetainedSize();
    }

    public String staticField(String className, String field) {
        List<FieldValue> values = cast(theClass(className).getStaticFieldValues());
        return value(only(values, field, className, className));
    }

    /** A field of the one instance of a class; `declaring` distinguishes shadowed fields. */
    public String field(String className, String declaring, String field) {
        List<Instance> instances = cast(theClass(className).getInstances());
        if (instances.size() != 1) {
            throw new AssertionError("NetBeans: " + instances.size() + " instances of " + className);
        }
        return value(only(cast(instances.get(0).getFieldValues()), field, declaring, className));
    }

    public Set<String> strings() {
        Set<String> strings = new HashSet<>();
        for (Instance string : NetBeansReader.<Instance>cast(theClass("java.lang.String").getInstances())) {
            strings.add(text(string));
        }
        return strings;
    }

    /** The stacks of the threads that are roots, by name. */
    public Map<String, List<StackTraceElement>> threads() {
        Map<String, List<StackTraceElement>> threads = new TreeMap<>();
        for (GCRoot root : roots()) {
            if (root instanceof ThreadObjectGCRoot) {
                StackTraceElement[] stack = ((ThreadObjectGCRoot) root).getStackTrace();
                threads.put(threadName(root.getInstance()), stack == null ? List.of() : Arrays.asList(stack));
            }
        }
        return threads;
    }

    /** The objects that local variables of a thread's frame hold, by class name. */
    public Set<String> locals(String thread, int frame) {
        Set<String> classes = new HashSet<>();
        for (GCRoot root : roots()) {
            if (root instanceof JavaFrameGCRoot) {
                JavaFrameGCRoot local = (JavaFrameGCRoot) root;
                if (local.getFrameNumber() == frame && threadName(local.getThreadGCRoot().getInstance()).equals(thread)) {
                    classes.add(local.getInstance().getJavaClass().getName());
                }
            }
        }
        return classes;
    }

    /** All classes of a name: several loaders may have defined one each. */
    public List<JavaClass> classes(String name) {
        return classes().stream().filter(type -> type.getName().equals(name)).collect(Collectors.toList());
    }

    public Heap heap() {
        return heap;
    }

    /** The library offers no way to close, but leaves a folder of caches beside the dump. */
    @Override
    public void close() {
        Path caches = dump.resolveSibling(dump.getFileName() + ".nbcache");
        try (Stream<Path> files = Files.exists(caches) ? Files.walk(caches) : Stream.empty()) {
            files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Collection<JavaClass> classes() {
        return cast(heap.getAllClasses());
    }

    private Collection<GCRoot> roots() {
        return castAll(heap.getGCRoots());
    }

    private JavaClass theClass(String name) {
        JavaClass found = heap.getJavaClassByName(name);
        if (found == null) {
            throw new AssertionError("NetBeans: no class " + name);
        }
        return found;
    }

    private static FieldValue only(List<FieldValue> values, String field, String declaring, String className) {
        List<FieldValue> found = values.stream().filter(value -> value.getField().getName().equals(field)
                && value.getField().getDeclaringClass().getName().equals(declaring)).collect(Collectors.toList());
        if (found.size() != 1) {
            throw new AssertionError("NetBeans: " + found.size() + " fields " + declaring + "." + field + " in " + className);
        }
        return found.get(0);
    }

    private static String value(FieldValue value) {
        if (value instanceof ObjectFieldValue) {
            return reference(((ObjectFieldValue) value).getInstance());
        }
        return primitive(value.getField().getType().getName(), value.getValue());
    }

    private static String primitive(String type, String value) {
        switch (type) {
            case "char": return "" + (int) value.charAt(0);
            case "boolean": return value.equals("1") ? "true" : value.equals("0") ? "false" : value;
            default: return value;
        }
    }

    private static String reference(Instance instance) {
        if (instance == null) {
            return "null";
        }
        String className = instance.getJavaClass().getName();
        if (instance instanceof ObjectArrayInstance) {
            List<Instance> elements = cast(((ObjectArrayInstance) instance).getValues());
            return Values.array(className, elements.stream().map(NetBeansReader::reference).collect(Collectors.toList()));
        } else if (instance instanceof PrimitiveArrayInstance) {
            String type = className.substring(0, className.length() - 2);
            List<String> elements = cast(((PrimitiveArrayInstance) instance).getValues());
            return Values.array(className, elements.stream().map(e -> primitive(type, e)).collect(Collectors.toList()));
        } else if (className.equals("java.lang.String")) {
            return Values.quoted(text(instance));
        }
        return "@" + className;
    }

    private static String threadName(Instance thread) {
        Object name = thread.getValueOfField("name");
        return name instanceof PrimitiveArrayInstance ? chars((PrimitiveArrayInstance) name) : text((Instance) name);
    }

    private static String text(Instance string) {
        PrimitiveArrayInstance array = (PrimitiveArrayInstance) string.getValueOfField("value");
        if (array == null) {
            return "";                                   // a string caught while it is being built
        }
        if (array.getJavaClass().getName().equals("char[]")) {
            return chars(array);
        }
        List<String> values = cast(array.getValues());
        byte[] bytes = new byte[values.size()];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = Byte.parseByte(values.get(i));
        }
        return Values.text(bytes, (Byte) string.getValueOfField("coder"));
    }

    private static String chars(PrimitiveArrayInstance array) {
        return NetBeansReader.<String>cast(array.getValues()).stream().collect(Collectors.joining());
    }

    @SuppressWarnings("unchecked")
    private static <T> List<T> cast(List<?> list) {
        return (List<T>) list;
    }

    @SuppressWarnings("unchecked")
    private static <T> Collection<T> castAll(Collection<?> all) {
        return (Collection<T>) all;
    }
}
