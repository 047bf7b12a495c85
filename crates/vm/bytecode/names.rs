//! The names of the class that rewritten code calls, and of its public static methods.
//!
//! The native methods have their own package, and thus are in no named module: when native methods
//! of a named module are registered, HotSpot prints a warning on stdout.

/// The class, in the bootstrap loader, which every module reads.
pub const TRACKER: &str = "java/lang/HprofTracker";

/// The class with the native methods of the same names, which it calls.
pub const NATIVES: &str = "hprof_rs/TrackerNatives";

/// Called with each new object, `(Ljava/lang/Object;)V`.
pub const OBJECT_INIT: &str = "objectInit";

/// Called with each new array and the number of its dimensions that were created,
/// `(Ljava/lang/Object;I)V`.
pub const NEW_ARRAY: &str = "newArray";

/// Called with the method's number when it starts, `(I)V`.
pub const ENTER: &str = "enter";

/// Called with the method's number when it returns or throws, `(I)V`.
pub const EXIT: &str = "exit";

/// Called with each new OutOfMemoryError, `(Ljava/lang/Object;)V`.
pub const ERROR_INIT: &str = "errorInit";

/// Called with a virtual thread when it is mounted on this thread, `(Ljava/lang/Object;)V`.
pub const MOUNT: &str = "mount";

/// Called when the virtual thread was unmounted from this thread, `()V`.
pub const UNMOUNT: &str = "unmount";
