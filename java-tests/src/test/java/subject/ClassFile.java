package subject;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** The bytes of an empty public class with a constructor and one public static int field. */
public final class ClassFile {
    private ClassFile() {}

    /** The name is in slash form and may hold whatever a Java string can. */
    public static byte[] named(String name, String field) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(0xCAFEBABE);
            out.writeShort(0);
            out.writeShort(52);                          // Java 8
            out.writeShort(12);                          // constants + 1
            utf8(out, name);                             // 1
            reference(out, 7, 1);                        // 2 class
            utf8(out, "java/lang/Object");               // 3
            reference(out, 7, 3);                        // 4 super class
            utf8(out, "<init>");                         // 5
            utf8(out, "()V");                            // 6
            utf8(out, "Code");                           // 7
            pair(out, 12, 5, 6);                         // 8 name and type
            pair(out, 10, 4, 8);                         // 9 Object.<init>
            utf8(out, field);                            // 10
            utf8(out, "I");                              // 11
            out.writeShort(0x21);                        // public, super
            out.writeShort(2);
            out.writeShort(4);
            out.writeShort(0);                           // interfaces
            out.writeShort(1);                           // fields
            out.writeShort(0x9);                         // public static
            out.writeShort(10);
            out.writeShort(11);
            out.writeShort(0);
            out.writeShort(1);                           // methods
            out.writeShort(1);
            out.writeShort(5);
            out.writeShort(6);
            out.writeShort(1);
            out.writeShort(7);
            out.writeInt(17);                            // the Code attribute
            out.writeShort(1);
            out.writeShort(1);
            out.writeInt(5);
            out.write(new byte[] {0x2a, (byte) 0xb7, 0, 9, (byte) 0xb1});
            out.writeShort(0);
            out.writeShort(0);
            out.writeShort(0);                           // attributes
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return bytes.toByteArray();
    }

    private static void utf8(DataOutputStream out, String text) throws IOException {
        out.writeByte(1);
        out.writeUTF(text);
    }

    private static void reference(DataOutputStream out, int tag, int index) throws IOException {
        out.writeByte(tag);
        out.writeShort(index);
    }

    private static void pair(DataOutputStream out, int tag, int first, int second) throws IOException {
        out.writeByte(tag);
        out.writeShort(first);
        out.writeShort(second);
    }
}
