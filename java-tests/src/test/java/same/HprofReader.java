package same;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads a dump, HPROF 1.0.2 with ids of eight bytes, record by record. */
final class HprofReader {
    private static final String FORMAT = "JAVA PROFILE 1.0.2";

    /** A stack trace as it is written, before all frames and threads are known. */
    private static final class Trace {
        int thread;
        long[] frames;
    }

    private final HprofFile file;
    private final Map<Long, String> strings = new HashMap<>();
    private final Map<Long, String[]> frames = new HashMap<>();
    private final Map<Long, Integer> frameClasses = new HashMap<>();
    private final Map<Integer, Long> classSerials = new HashMap<>();
    private final Map<Integer, Trace> traces = new HashMap<>();
    private final Map<Integer, Long> threads = new HashMap<>();
    private final Map<Integer, Integer> threadTraces = new HashMap<>();
    /** Roots with serial numbers for threads: the thread may come later. */
    private final List<HprofRoot> roots = new ArrayList<>();

    private HprofReader(HprofFile file) {
        this.file = file;
    }

    static HprofFile read(Path path) throws IOException {
        HprofFile file = new HprofFile();
        HprofReader reader = new HprofReader(file);
        try (HprofInput in = new HprofInput(path)) {
            reader.header(in);
            for (int tag = in.u1OrEnd(); tag >= 0; tag = in.u1OrEnd()) {
                in.i4();                                 // the time
                reader.record(tag, in, in.u4());
            }
        }
        reader.resolve();
        return file;
    }

    private void header(HprofInput in) throws IOException {
        String format = new String(in.bytes(FORMAT.length()), StandardCharsets.ISO_8859_1);
        int end = in.u1();
        int idSize = in.i4();
        in.id();                                         // the time
        if (!format.equals(FORMAT) || end != 0 || idSize != 8) {
            throw new IllegalStateException("no dump of " + FORMAT + " with ids of 8 bytes, but " + format + ", " + idSize);
        }
    }

    private void record(int tag, HprofInput in, long length) throws IOException {
        long end = in.position() + length;
        switch (tag) {
            case 0x01: strings.put(in.id(), new String(in.bytes(length - 8), StandardCharsets.UTF_8)); break;
            case 0x02: loadClass(in); break;
            case 0x04: frame(in); break;
            case 0x05: trace(in); break;
            case 0x0a: startThread(in); break;
            case 0x0c:
            case 0x1c: heap(in, end); break;
            default: in.bytes(length);
        }
        if (in.position() != end) {
            throw new IllegalStateException(
                    "record 0x" + Integer.toHexString(tag) + " ends at " + in.position() + ", not at " + end);
        }
    }

    private void loadClass(HprofInput in) throws IOException {
        int serial = in.i4();
        long id = in.id();
        in.i4();                                         // the trace
        classSerials.put(serial, id);
        file.addName(id, string(in.id()));
    }

    private void frame(HprofInput in) throws IOException {
        long id = in.id();
        String method = string(in.id());
        String signature = string(in.id());
        in.id();                                         // the source file
        frameClasses.put(id, in.i4());
        frames.put(id, new String[] {method, signature, "" + in.i4()});
    }

    private void trace(HprofInput in) throws IOException {
        Trace trace = new Trace();
        int serial = in.i4();
        trace.thread = in.i4();
        trace.frames = new long[in.i4()];
        for (int i = 0; i < trace.frames.length; i++) {
            trace.frames[i] = in.id();
        }
        traces.put(serial, trace);
    }

    private void startThread(HprofInput in) throws IOException {
        int serial = in.i4();
        threads.put(serial, in.id());
        threadTraces.put(serial, in.i4());
        in.bytes(24);                                    // its name and those of its groups
    }

    private void heap(HprofInput in, long end) throws IOException {
        while (in.position() < end) {
            int tag = in.u1();
            HprofRoot.Kind kind = HprofRoot.Kind.of(tag);
            if (kind != null) {
                root(kind, in);
            } else if (tag == 0x20) {
                classDump(in);
            } else {
                file.add(object(tag, in));
            }
        }
    }

    private void root(HprofRoot.Kind kind, HprofInput in) throws IOException {
        long object = in.id();
        int serial = kind.hasThread() ? in.i4() : 0;
        int second = kind.hasThread() && kind.more == 8 ? in.i4() : -1;
        if (kind == HprofRoot.Kind.JNI_GLOBAL) {
            in.id();                                     // the reference itself
        } else if (kind == HprofRoot.Kind.THREAD_OBJ) {
            threads.put(serial, object);
            threadTraces.put(serial, second);
        }
        roots.add(new HprofRoot(kind, object, serial, kind.hasFrame() ? second : -1));
    }

    private void classDump(HprofInput in) throws IOException {
        HprofClass type = new HprofClass(in.id());
        in.i4();                                         // the trace
        type.superId = in.id();
        type.loader = in.id();
        type.signers = in.id();
        type.protectionDomain = in.id();
        in.id();                                         // reserved
        in.id();
        type.instanceSize = in.i4();
        for (int count = in.u2(); count > 0; count--) {  // constants: no JVM of today writes them
            in.u2();
            in.value(HprofType.of(in.u1()));
        }
        for (int count = in.u2(); count > 0; count--) {
            String name = string(in.id());
            HprofType valueType = HprofType.of(in.u1());
            type.statics.add(new HprofField(name, valueType, in.value(valueType)));
        }
        for (int count = in.u2(); count > 0; count--) {
            type.fields.add(new HprofField(string(in.id()), HprofType.of(in.u1()), 0));
        }
        file.add(type);
    }

    private HprofObject object(int tag, HprofInput in) throws IOException {
        long id = in.id();
        in.i4();                                         // the trace
        switch (tag) {
            case 0x21: {
                long classId = in.id();
                return HprofObject.instance(id, classId, in.bytes(in.u4()));
            }
            case 0x22: {
                long length = in.u4();
                long classId = in.id();
                return HprofObject.array(id, classId, in.bytes(8 * length));
            }
            case 0x23: {
                long length = in.u4();
                HprofType type = HprofType.of(in.u1());
                return HprofObject.primitives(id, type, in.bytes(type.size * length));
            }
            default: throw new IllegalStateException("record 0x" + Integer.toHexString(tag) + " before " + in.position());
        }
    }

    private String string(long id) {
        String string = strings.get(id);
        return string == null ? "string " + Long.toHexString(id) + " is missing" : string;
    }

    private void resolve() {
        for (HprofRoot root : roots) {
            long thread = root.kind.hasThread() ? threads.getOrDefault((int) root.thread, 0L) : 0;
            file.roots.add(new HprofRoot(root.kind, root.object, thread, root.frame));
        }
        threads.forEach((serial, object) -> file.stacks.put(object, stack(threadTraces.get(serial))));
    }

    private List<HprofFrame> stack(Integer serial) {
        List<HprofFrame> stack = new ArrayList<>();
        Trace trace = traces.get(serial);
        if (trace != null) {
            for (long id : trace.frames) {
                stack.add(frame(id));
            }
        }
        return stack;
    }

    private HprofFrame frame(long id) {
        String[] frame = frames.get(id);
        if (frame == null) {
            return new HprofFrame(0, "frame " + Long.toHexString(id) + " is missing");
        }
        long classId = classSerials.getOrDefault(frameClasses.get(id), 0L);
        return new HprofFrame(classId, frame[0] + frame[1] + ":" + frame[2]);
    }
}
