package roots;

import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** What a dump is known to lack: docs/design/roots.md has the reasons. What is no longer lacking must go from here. */
final class KnownGaps {
    private final int java;
    private final Code code;
    /** Patterns of the names of places. */
    private final Map<String, Boolean> places = new LinkedHashMap<>();
    /** Classes of which HotSpot has more objects, each with the most of them. */
    private final Map<String, Long> classes = new HashMap<>();

    KnownGaps(int java, Code code) {
        this.java = java;
        this.code = code;
        addPlaces();
        addKept();
        addHidden();
    }

    private void addPlaces() {
        boolean isCompiled = code != Code.INTERPRETED;
        // What oop maps and frames have beyond HotSpot's walk is read since 16.
        boolean isRead = java >= 16;
        lack("argument of a native method|privileged context|attached thread that calls Java", !isRead);
        lack("argument while a class is loaded", !isRead);
        lack("argument while a class is initialized", !isRead || code == Code.C1);
        lack("monitor entered by native code", java == 11);
        lack("expression", java == 8);
        lack(".*in a loop|array|constructor|monitor|receiver|synchronized method", !isRead && isCompiled);
        lack("continuation .*", code == Code.INTERPRETED);
        classes.put("roots.Constructs$Holder", !isRead && isCompiled ? 1L : 0L);
        Arrays.asList("HashMap$EntrySet", "HashMap$Node[]").forEach(name -> classes.put("java.util." + name, isCompiled ? 1L : 0));
    }

    private void lack(String places, boolean isSo) {
        this.places.put(places, isSo);
    }

    /** The objects that the agent keeps to check its view of the JVM: its own dumps are without them. */
    private void addKept() {
        Arrays.asList("Boolean", "Byte", "Character", "Double", "Float", "Integer", "Long", "Short", "Throwable")
                .forEach(name -> classes.put("java.lang." + name, 1L));
        Arrays.asList("boolean[]", "double[]", "float[]").forEach(name -> classes.put(name, 4L));
        classes.put("long[]", 5L);
        // And on 8 the raw stacks of exceptions that are made in advance.
        classes.put("short[]", java == 8 ? 14L : 5L);
        classes.put("java.util.HashMap", code == Code.INTERPRETED ? 1L : 2);
    }

    /** The JVM's own threads, which JVMTI hides, with their names; what is made to write the dumps; constants of unlinked classes. */
    private void addHidden() {
        classes.put("java.lang.Thread", 3L);
        classes.put("java.lang.Thread$FieldHolder", 3L);
        classes.put("java.security.AccessControlContext", 4L);
        classes.put("java.lang.Object", 6L);
        Arrays.asList("java.lang.String", "byte[]", "char[]").forEach(name -> classes.put(name, 40L));
        classes.put("java.lang.invoke.ResolvedMethodName", 4L);
        classes.put("java.lang.Object[]", java == 8 ? 310L : 40);
    }

    /** Whether HotSpot may find this place's token dead, so that it need not be in ours. */
    boolean mayBeDead(String place) {
        // Since 17, a monitor does not keep its object alive.
        return place.equals("monitor entered by native code") && java >= 17
                // Java 8 makes the token after the stop.
                || place.equals("argument of a method handle") && java == 8;
    }

    /** Whether a moment's dump may lack it: what is on its way is an operand between two instructions, and 8 tells of none. */
    boolean lacksForAMoment(String place) {
        return java == 8 && code == Code.INTERPRETED && place.matches("returned.*|thrown|passed on");
    }

    /** Whether our dump may lack this place's token. */
    boolean lacks(String place) {
        return places.entrySet().stream().anyMatch(row -> row.getValue() && place.matches(row.getKey()));
    }

    /** What is left of the differences, by class, when those that are known are taken out, and tokens, which are counted by place. */
    Map<String, Long> unknown(Map<String, Long> more) {
        Map<String, Long> unknown = new TreeMap<>(more);
        unknown.keySet().removeIf(name -> name.equals("roots.Tok")
                // What the collector fills gaps with.
                || name.equals("int[]")
                || name.matches(".*HotSpotDiagnostic\\$\\$Lambda.*|roots\\.Machinery\\$\\$Lambda.*"));
        unknown.entrySet().removeIf(row -> row.getValue() <= classes.getOrDefault(row.getKey(), 0L));
        return unknown;
    }
}
