package harness;

/** How a JVM gets mounts of its own. */
public final class Mounts {
    /** The switches of unshare(1). Who is not root needs a namespace of users, too, which there is not inside a chroot. */
    public static final String OWN = "root".equals(System.getProperty("user.name")) ? "-m" : "-rm";

    private Mounts() {}
}
