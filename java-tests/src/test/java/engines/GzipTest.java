package engines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import harness.Command;
import harness.HprofCheck;
import harness.Jdk;
import harness.Jdks;
import harness.Jvm;
import harness.OnlyInTestAll;
import harness.Rows;
import harness.Testimony;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import same.SameDumps;
import same.Quiet;
import same.RecordOrder;

/** A compressed dump holds what one that is not compressed does, in members like those of HotSpot's own. */
class GzipTest {
    /** The comment by which readers know a file that they can read from the middle. */
    private static final String COMMENT = "HPROF BLOCKSIZE=";
    /** Where the header has the time of the dump, and where it ends. */
    private static final int TIME = "JAVA PROFILE 1.0.2\0".length() + 4;
    private static final int HEADER = TIME + 8;

    @TempDir Path folder;

    static List<Jdk> jdks() {
        return Stream.of(11, 17, 25).map(Jdks::of).collect(Collectors.toList());
    }

    @OnlyInTestAll("compresses five dumps; StreamsTest and the Rust tests of the writer unpack what they write")
    @ParameterizedTest
    @Rows("jdks")
    void holdsTheSame(Jdk jdk) throws IOException {
        Path plain = folder.resolve("plain.hprof");
        Path named = folder.resolve("named.hprof.gz");
        Path[] levels = {folder.resolve("1.hprof"), folder.resolve("6.hprof.gz"), folder.resolve("9.hprof.gz")};
        try (Jvm jvm = Jvm.on(jdk, folder).switches("-Xmx512m").run(Quiet.class).ready()) {
            attach(jvm, ",threads=1", plain);
            attach(jvm, "", named);
            attach(jvm, ",threads=1,gz=1", levels[0]);
            attach(jvm, ",threads=1,gz=6", levels[1]);
            attach(jvm, ",threads=1,gz=9", levels[2]);
            byte[] first = withoutFacts(whole(members(levels[0])));
            for (Path level : levels) {
                mustHold(level, first);
            }
            mustBeMembersOfAFile(named, members(named));
            mustBeEqual(plain, levels[0]);
            mustBeEqual(plain, named);
            mustBeGrouped(levels[0], plain);
            if (jdk.major >= 17) {
                mustBeMadeLike(hotspots(jvm), members(levels[0]));
            }
            Path out = folder.resolve("out.hprof");
            Files.write(out, whole(members(named)));
            Testimony.of(jvm).mustHoldIn(out);
        }
        assertTrue(Files.size(levels[2]) <= Files.size(levels[1]), "9 makes smaller files than 6");
        assertTrue(Files.size(levels[1]) <= Files.size(levels[0]), "6 makes smaller files than 1");
        assertTrue(Files.size(levels[0]) < Files.size(plain), "1 compresses");
    }

    private static void attach(Jvm jvm, String option, Path file) {
        Command attached = jvm.attach("heap=dump,file=" + file + option);
        assertTrue(attached.out.contains("return code: 0"), () -> attached + "stderr:\n" + jvm.err.text());
    }

    private static void mustBeEqual(Path plain, Path compressed) {
        SameDumps.mustBeTheSame(plain, compressed);
    }

    /** What is compressed has the objects of a class together, some hundred kilobytes at a time. */
    private static void mustBeGrouped(Path compressed, Path plain) {
        long apart = RecordOrder.changesOfClass(plain);
        long together = RecordOrder.changesOfClass(compressed);
        assertTrue(together * 10 < apart, "changes of class: " + apart + ", compressed: " + together);
    }

    /** One thread writes each time the same, but for the time and the pause; several write segments in the order in which they are done. */
    private static void mustHold(Path file, byte[] expected) throws IOException {
        List<GzipMember> members = members(file);
        mustBeMembersOfAFile(file, members);
        byte[] whole = withoutFacts(whole(members));
        assertEquals(expected.length, whole.length, file + ": bytes, decompressed");
        assertEquals(-1, Arrays.mismatch(expected, 0, TIME, whole, 0, TIME), file + ": header");
        assertEquals(-1, Arrays.mismatch(expected, HEADER, expected.length, whole, HEADER, whole.length), file + ": records");
    }

    /** The file without the text about the pause. */
    private static byte[] withoutFacts(byte[] file) {
        String text = new String(file, StandardCharsets.ISO_8859_1);
        // The record's tag, its time and length, and the id of the text come before.
        int start = text.indexOf("hprof-rs/facts 1\n") - 17;
        assertEquals(1, file[start], "the tag of a text");
        int end = start + 9 + ByteBuffer.wrap(file, start + 5, 4).getInt();
        String facts = text.substring(start, end);
        assertTrue(facts.contains("\npause_us="), facts);
        return (text.substring(0, start) + text.substring(end)).getBytes(StandardCharsets.ISO_8859_1);
    }

    private static void mustBeMembersOfAFile(Path file, List<GzipMember> members) {
        new HprofCheck(file).good();
        int blockSize = blockSize(members);
        assertEquals(COMMENT + blockSize, members.get(0).comment, file + ": the first member's comment");
        for (GzipMember member : members) {
            assertTrue(member.bytes.length <= blockSize, file + ": bytes of the member at " + member.start);
            assertTrue(member.start == 0 || member.comment == null, file + ": comment of the member at " + member.start);
        }
        long length = members.stream().mapToLong(member -> member.bytes.length).sum();
        // Each of the threads that fill them leaves some that are not full.
        long most = 2 * length / blockSize + 2 * Runtime.getRuntime().availableProcessors();
        assertTrue(members.size() < most, file + ": " + members.size() + " members for " + length + " bytes");
    }

    /**
     * Readers that know HotSpot's compressed dumps read the first header, and rely on no block being longer than in it.
     * Java 17 has the comment in all members, 25 in the first.
     */
    private static void mustBeMadeLike(List<GzipMember> hotspots, List<GzipMember> ours) {
        assertTrue(hotspots.get(0).comment.startsWith(COMMENT), hotspots.get(0).comment);
        assertEquals(hotspots.get(0).flags, ours.get(0).flags, "flags of the first member");
        int blockSize = blockSize(hotspots);
        assertTrue(hotspots.stream().allMatch(member -> member.bytes.length <= blockSize), "HotSpot's own members");
    }

    private List<GzipMember> hotspots(Jvm jvm) throws IOException {
        Path file = folder.resolve("hotspot.hprof.gz");
        jvm.jcmd("GC.heap_dump", "-gz=1", file.toString()).good();
        return members(file);
    }

    private static int blockSize(List<GzipMember> members) {
        return Integer.parseInt(members.get(0).comment.substring(COMMENT.length()));
    }

    private static List<GzipMember> members(Path file) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        List<GzipMember> members = new ArrayList<>();
        for (int start = 0; start < bytes.length; start = members.get(members.size() - 1).end) {
            members.add(GzipMember.at(start, bytes));
        }
        assertTrue(members.size() > 2, file + " has " + members.size() + " members");
        return members;
    }

    private static byte[] whole(List<GzipMember> members) {
        byte[] whole = new byte[members.stream().mapToInt(member -> member.bytes.length).sum()];
        int end = 0;
        for (GzipMember member : members) {
            System.arraycopy(member.bytes, 0, whole, end, member.bytes.length);
            end += member.bytes.length;
        }
        return whole;
    }
}
