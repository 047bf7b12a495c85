package same;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * Finds for each object of one dump of a heap the same object in another one, which has other ids: from what has a name
 * (classes, roots of a thread's frame, literals) along the references of both. The twins of an object's references are
 * those of its twin, or one object would have two twins, which is a difference.
 */
final class Twins {
    private static final String DOMAIN = "protection domain";
    private static final int ANY = Integer.MAX_VALUE;

    private final HprofFile ours;
    private final HprofFile theirs;
    private final EngineFindings findings;
    private final Map<Long, Long> theirOf = new HashMap<>();
    private final Map<Long, Long> ourOf = new HashMap<>();
    private final Deque<Long> open = new ArrayDeque<>();

    Twins(HprofFile ours, HprofFile theirs, EngineFindings findings) {
        this.ours = ours;
        this.theirs = theirs;
        this.findings = findings;
        theirOf.put(0L, 0L);
        ourOf.put(0L, 0L);
        meet(ours.classes.keySet(), theirs.classes.keySet(), ours::name, theirs::name, id -> id, 1);
        meet(ours.stacks.keySet(), theirs.stacks.keySet(), ours::threadName, theirs::threadName, id -> id, 1);
        Fingerprints ourPrints = new Fingerprints(ours, id -> id != 0 && theirOf.containsKey(id) ? id : null);
        Fingerprints theirPrints = new Fingerprints(theirs, id -> id == 0 ? null : ourOf.get(id));
        // What has been found tells more roots apart.
        for (int known = 0; known < theirOf.size();) {
            known = theirOf.size();
            meetRoots(root -> ourPrints.of(root.object), root -> theirPrints.of(root.object));
            meetConstants();
        }
        meetRoots(root -> ours.typeOf(root.object), root -> theirs.typeOf(root.object));
    }

    private void meetRoots(Function<HprofRoot, Object> ourLook, Function<HprofRoot, Object> theirLook) {
        meet(ours.roots, theirs.roots, root -> Arrays.asList(root.kind, their(root.thread), root.frame, ourLook.apply(root)),
                root -> Arrays.asList(root.kind, root.thread, root.frame, theirLook.apply(root)), root -> root.object, ANY);
    }

    /** Arrays of constants, which a fork has in their classes and a walk as roots: those that only one array of ours can be. */
    private void meetConstants() {
        List<HprofObject> our = Constants.arrays(ours).filter(array -> !theirOf.containsKey(array.id)).collect(Collectors.toList());
        theirs.roots.stream().filter(root -> root.kind == HprofRoot.Kind.JNI_GLOBAL && !ourOf.containsKey(root.object))
                .map(root -> theirs.objects.get(root.object)).filter(array -> array != null && array.kind == HprofObject.Kind.OBJECT_ARRAY).distinct()
                .forEach(their -> {
                    List<HprofObject> like = our.stream().filter(array -> canBe(array, their)).limit(2).collect(Collectors.toList());
                    if (like.size() == 1 && !theirOf.containsKey(like.get(0).id)) {
                        pair(like.get(0).id, their.id, 0, "constants");
                    }
                });
        follow();
    }

    /** Whether two arrays are of one length, and their elements of the same types and, if they have twins, each other's. */
    private boolean canBe(HprofObject our, HprofObject their) {
        boolean like = our.length() == their.length();
        for (int i = 0; like && i < our.length(); i++) {
            long mine = our.element(i);
            long other = their.element(i);
            like = theirOf.containsKey(mine) || ourOf.containsKey(other) ? Objects.equals(theirOf.get(mine), other)
                    : ours.typeOf(mine).equals(theirs.typeOf(other));
        }
        return like;
    }

    /** The id that an object of ours has in the other dump; null if it is not there. */
    Long their(long id) {
        return theirOf.get(id);
    }

    /** The id that an object of the other dump has in ours; null if it is not there. */
    Long our(long id) {
        return ourOf.get(id);
    }

    /** Those without a twin that are of a key in both dumps belong together; if there are several, in their order. */
    private <T, K> void meet(Iterable<T> some, Iterable<T> others, Function<T, K> ourKey, Function<T, K> theirKey,
            ToLongFunction<T> id, int most) {
        Map<K, List<Long>> our = byKey(some, ourKey, id, theirOf);
        Map<K, List<Long>> their = byKey(others, theirKey, id, ourOf);
        our.forEach((key, ids) -> {
            List<Long> twins = their.getOrDefault(key, Collections.emptyList());
            for (int i = 0; ids.size() == twins.size() && ids.size() <= most && i < ids.size(); i++) {
                pair(ids.get(i), twins.get(i), 0, key);
            }
        });
        follow();
    }

    private static <T, K> Map<K, List<Long>> byKey(Iterable<T> all, Function<T, K> key, ToLongFunction<T> id, Map<Long, Long> known) {
        Map<K, List<Long>> byKey = new LinkedHashMap<>();
        for (T one : all) {
            List<Long> ids = byKey.computeIfAbsent(key.apply(one), any -> new ArrayList<>());
            if (!known.containsKey(id.applyAsLong(one)) && !ids.contains(id.applyAsLong(one))) {
                ids.add(id.applyAsLong(one));
            }
        }
        return byKey;
    }

    /** Takes down that these are the same object, as what they are in says. */
    private void pair(long our, long their, long holder, Object where) {
        Long known = theirOf.get(our);
        Long back = ourOf.get(their);
        if (known == null && back == null) {
            theirOf.put(our, their);
            ourOf.put(their, our);
            open.push(our);
        } else if (!Objects.equals(known, their)) {
            findings.differ("reference", ours.text(our) + " and " + theirs.text(their) + " are not the same, in " + ours.text(holder) + ", " + where);
        }
    }

    private void follow() {
        while (!open.isEmpty()) {
            long our = open.pop();
            long their = theirOf.get(our);
            HprofObject object = ours.objects.get(our);
            HprofObject twin = theirs.objects.get(their);
            if (object != null && twin != null) {
                objects(object, twin);
            } else if (ours.classes.containsKey(our) && theirs.classes.containsKey(their)) {
                classes(ours.classes.get(our), theirs.classes.get(their));
            } else {
                findings.differ("kind of record", ours.text(our) + " and " + theirs.text(their));
            }
        }
    }

    private void objects(HprofObject our, HprofObject their) {
        if (our.kind != their.kind || our.type != their.type || our.bytes.length != their.bytes.length) {
            findings.differ("shape of an object", ours.text(our.id) + " and " + theirs.text(their.id));
            return;
        }
        pair(our.classId, their.classId, our.id, "its class");
        if (our.kind == HprofObject.Kind.PRIMITIVE_ARRAY && Arrays.equals(our.bytes, their.bytes)) {
            return;
        }
        if (our.kind == HprofObject.Kind.INSTANCE) {
            ours.layout(our.classId).offsets.forEach((field, offset) -> value(field.type, our, their, offset, field.name));
        } else {
            for (int i = 0; i < our.length(); i++) {
                value(our.type, our, their, i * our.type.size, i);
            }
        }
    }

    private void value(HprofType type, HprofObject our, HprofObject their, int offset, Object where) {
        value(type, type.read(our.bytes, offset), type.read(their.bytes, offset), our.id, where);
    }

    private void value(HprofType type, long our, long their, long holder, Object where) {
        if (type == HprofType.OBJECT && our != 0 && their != 0) {
            pair(our, their, holder, where);
        } else if (our != their) {
            findings.judge(their == 0 ? untold(holder, where) : null, ours.typeOf(holder), "value",
                    ours.text(holder) + ", " + where + ": " + type.text(our) + " and " + type.text(their));
        }
    }

    /** Why a walk has nothing where the fork has a value; null if there is no reason. */
    private EngineRule untold(long holder, Object where) {
        HprofClass type = ours.classes.get(holder);
        if (type == null) {
            return ours.typeOf(holder).equals("java.lang.Class") ? EngineRule.FIELD_OF_CLASS_OBJECT : null;
        }
        boolean isEmpty = type.fields.isEmpty() && fields(type, HprofField::isDeclared).isEmpty();
        return where.equals(DOMAIN) && isEmpty ? EngineRule.UNTOLD_DOMAIN : null;
    }

    private void classes(HprofClass our, HprofClass their) {
        String where = ours.text(our.id);
        if (!ours.name(our.id).equals(theirs.name(their.id)) || our.instanceSize != their.instanceSize
                || !our.fields.equals(their.fields)) {
            findings.differ("class", where + " and " + theirs.text(their.id) + ": " + our.instanceSize + " " + our.fields
                    + " and " + their.instanceSize + " " + their.fields);
        }
        value(HprofType.OBJECT, our.superId, their.superId, our.id, "super class");
        value(HprofType.OBJECT, our.loader, their.loader, our.id, "loader");
        value(HprofType.OBJECT, our.signers, their.signers, our.id, "signers");
        value(HprofType.OBJECT, our.protectionDomain, their.protectionDomain, our.id, DOMAIN);
        statics(our.id, fields(our, HprofField::isDeclared), fields(their, HprofField::isDeclared));
        List<HprofField> ourOthers = fields(our, field -> !field.isDeclared());
        List<HprofField> theirOthers = fields(their, field -> !field.isDeclared());
        if (signatures(ourOthers).equals(signatures(theirOthers))) {
            statics(our.id, ourOthers, theirOthers);
        } else {
            literals(our, their);
        }
    }

    private void statics(long of, List<HprofField> our, List<HprofField> their) {
        if (!signatures(our).equals(signatures(their))) {
            findings.differ("static fields", ours.text(of) + ": " + our + " and " + their);
            return;
        }
        for (int i = 0; i < our.size(); i++) {
            value(our.get(i).type, our.get(i).bits, their.get(i).bits, of, our.get(i).name);
        }
    }

    /** Engines place the literals of a class differently. */
    private void literals(HprofClass our, HprofClass their) {
        Map<String, Long> twins = Constants.literals(theirs, their);
        Constants.literals(ours, our).forEach((text, id) -> {
            if (twins.containsKey(text)) {
                pair(id, twins.get(text), our.id, text);
            }
        });
    }

    private static List<HprofField> fields(HprofClass type, Predicate<HprofField> wanted) {
        return type.statics.stream().filter(wanted).collect(Collectors.toList());
    }

    private static List<String> signatures(List<HprofField> fields) {
        return fields.stream().map(HprofField::toString).collect(Collectors.toList());
    }
}
