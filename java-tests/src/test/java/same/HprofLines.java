package same;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A binary dump in the lines of the old agent's text, made by the bench's own reader: what the text of the same heap must
 * have. Without sizes, which a binary dump has not; the lines below an object's own follow after line feeds.
 */
public final class HprofLines {
    private final HprofFile file;
    public final List<String> roots = new ArrayList<>();
    public final List<String> entries = new ArrayList<>();
    public final List<String> classes = new ArrayList<>();

    public HprofLines(Path dump) {
        file = HprofFile.read(dump);
        file.roots.forEach(root -> roots.add(root(root)));
        file.objects.values().forEach(object -> entries.add(entry(object)));
        file.classes.values().forEach(type -> classes.add(type(type)));
    }

    private String root(HprofRoot root) {
        String line = "ROOT " + hex(root.object) + " (kind=<" + kind(root.kind) + ">";
        switch (root.kind) {
            case THREAD_OBJ: return line + ", id=@" + hex(root.thread) + ")";
            case THREAD_BLOCK:
            case NATIVE_STACK: return line + ", thread=@" + hex(root.thread) + ")";
            case JAVA_FRAME:
            case JNI_LOCAL: return line + ", thread=@" + hex(root.thread) + ", frame=" + root.frame + ")";
            case JNI_GLOBAL: return line + ", trace=1)";
            case STICKY_CLASS: return line + ", name=" + name(root.object) + ")";
            default: return line + ")";
        }
    }

    private static String kind(HprofRoot.Kind kind) {
        switch (kind) {
            case JNI_GLOBAL: return "JNI global ref";
            case JNI_LOCAL: return "JNI local ref";
            case JAVA_FRAME: return "Java stack";
            case NATIVE_STACK: return "native stack";
            case STICKY_CLASS: return "system class";
            case THREAD_BLOCK: return "thread block";
            case MONITOR_USED: return "busy monitor";
            case THREAD_OBJ: return "thread";
            default: return "unknown";
        }
    }

    private String entry(HprofObject object) {
        switch (object.kind) {
            case INSTANCE: return instance(object);
            case OBJECT_ARRAY:
                StringBuilder text = new StringBuilder(array(object, name(object.classId) + "@" + hex(object.classId)));
                for (int i = 0; i < object.length(); i++) {
                    line(text, "[" + i + "]\t", object.element(i));
                }
                return text.toString();
            default: return array(object, object.type.name().toLowerCase() + "[]");
        }
    }

    private static String array(HprofObject array, String type) {
        return "ARR " + hex(array.id) + " (trace=1, nelems=" + array.length() + ", elem type=" + type + ")";
    }

    private String instance(HprofObject object) {
        StringBuilder text = new StringBuilder("OBJ " + hex(object.id) + " (trace=1, class=" + name(object.classId) + "@"
                + hex(object.classId) + ")");
        // Those of the topmost class first, but those of one class in their own order.
        String below = "";
        int offset = 0;
        for (HprofClass type = file.classes.get(object.classId); type != null; type = file.classes.get(type.superId)) {
            StringBuilder own = new StringBuilder();
            for (HprofField field : type.fields) {
                if (field.type == HprofType.OBJECT) {
                    String tab = field.name.length() < 8 ? "\t" : "";
                    line(own, field.name + tab, field.type.read(object.bytes, offset));
                }
                offset += field.type.size;
            }
            below = own + below;
        }
        return text + below;
    }

    private String type(HprofClass type) {
        StringBuilder text = new StringBuilder("CLS " + hex(type.id) + " (name=" + name(type.id) + ", trace=1)");
        line(text, "super\t", type.superId);
        line(text, "loader\t", type.loader);
        line(text, "signers\t", type.signers);
        line(text, "domain\t", type.protectionDomain);
        for (HprofField field : type.statics) {
            if (field.type == HprofType.OBJECT) {
                line(text, "static " + field.name.replace(" ", "\\u0020"), field.bits);
            }
        }
        return text.toString();
    }

    private static void line(StringBuilder text, String name, long target) {
        if (target != 0) {
            text.append("\n\t").append(name).append("\t").append(hex(target));
        }
    }

    private String name(long classId) {
        String name = file.name(classId);
        int depth = name.lastIndexOf('[') + 1;
        String element = name.substring(depth);
        StringBuilder source = new StringBuilder(depth == 0 ? element : element(element));
        for (int i = 0; i < depth; i++) {
            source.append("[]");
        }
        return source.toString().replaceFirst("\\+(?=0x[0-9a-f]+(\\[])*$)", "/");
    }

    private static String element(String descriptor) {
        for (HprofType type : HprofType.values()) {
            if (descriptor.length() == 1 && descriptor.charAt(0) == letter(type)) {
                return type.name().toLowerCase();
            }
        }
        return descriptor.substring(1, descriptor.length() - 1);
    }

    private static char letter(HprofType type) {
        return type == HprofType.LONG ? 'J' : type == HprofType.BOOLEAN ? 'Z' : type == HprofType.OBJECT ? 'L' : type.name().charAt(0);
    }

    private static String hex(long id) {
        return Long.toHexString(id);
    }
}
