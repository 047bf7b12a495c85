package planted;

/** What native code keeps. */
final class Natives {
    private Natives() {}

    static final class Session {
        final byte[] state = new byte[900];
    }

    /** A native library makes a global reference for each session, and deletes none. */
    @Leak(library = "natives.c", first = {"holder: says (?i)jni global", "objects: count 20000 planted.Natives$Session"})
    public static final class Globals {
        static native void keep(Object session);

        public static void main(String[] args) {
            System.load(System.getProperty("planted.library"));
            Service.fill(20_000, i -> keep(new Session()));
        }
    }
}
