package roots;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Places of Java 25: scoped values, and frames by which native code calls Java without JNI. */
public final class Later {
    private static final ScopedValue<Tok> SCOPED = ScopedValue.newInstance();
    private static final ThreadLocal<Stop> STOP = new ThreadLocal<>();

    private Later() {}

    static void addTo(Places places) {
        places.warm(Later::scoped);
        places.add("scoped value", Later::scoped, Stop::park);
        places.addVirtual("virtual scoped value", Later::scoped, Stop::park);
        places.add("upcall", Later::upcall, Stop::park);
        places.addVirtual("virtual upcall", Later::upcall, Stop::park);
    }

    private static void scoped(int place, Stop stop) {
        ScopedValue.where(SCOPED, Tok.of(place)).run(stop::here);
        Stop.passed++;
    }

    private static int compare(MemorySegment one, MemorySegment other) {
        STOP.get().here();
        return 1;
    }

    /** The C library's qsort calls a comparator of Java. The token is in a frame below both. */
    private static void upcall(int place, Stop stop) throws Throwable {
        STOP.set(stop);
        Tok tok = Tok.of(place);
        Linker linker = Linker.nativeLinker();
        MethodHandle sort = linker.downcallHandle(linker.defaultLookup().find("qsort").orElseThrow(),
                FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
        MethodHandle compare = MethodHandles.lookup().findStatic(Later.class, "compare",
                MethodType.methodType(int.class, MemorySegment.class, MemorySegment.class));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment stub = linker.upcallStub(compare,
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS), arena);
            sort.invokeExact(arena.allocateFrom(ValueLayout.JAVA_INT, 2, 1), 2L, 4L, stub);
        }
        Stop.passed += tok.use();
    }
}
