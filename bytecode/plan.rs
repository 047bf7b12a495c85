//! What is to be put into a class.

/// The class that rewritten code calls, and its methods. They are public and static.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrackerNames {
    /// The class, as `java/lang/HprofTracker`.
    pub class: &'static str,
    /// The class of the native methods that it calls, of the same names.
    pub natives: &'static str,
    /// Called with each new object, `(Ljava/lang/Object;)V`.
    pub object_init: &'static str,
    /// Called with each new array and its length, `(Ljava/lang/Object;I)V`.
    pub new_array: &'static str,
    /// Called with each new array of arrays and how many of its dimensions were made at once, `(Ljava/lang/Object;I)V`.
    pub new_arrays: &'static str,
    /// Called with the method's number when it begins, `(I)V`.
    pub enter: &'static str,
    /// Called with the method's number when it returns or throws, `(I)V`.
    pub exit: &'static str,
    /// Called with a virtual thread when it is put onto this thread, `(Ljava/lang/Object;)V`.
    pub mount: &'static str,
    /// Called when the virtual thread has left this thread, `()V`.
    pub unmount: &'static str,
}

impl Default for TrackerNames {
    /// `java/lang/HprofTracker` in the bootstrap loader, which every module reads.
    ///
    /// The native methods are in a package of their own, and so in no named module: for those of a named one HotSpot
    /// warns on stdout when they are registered.
    fn default() -> Self {
        Self {
            class: "java/lang/HprofTracker",
            natives: "hprof_rs/TrackerNatives",
            object_init: "objectInit",
            new_array: "newArray",
            new_arrays: "newArrays",
            enter: "enter",
            exit: "exit",
            mount: "mount",
            unmount: "unmount",
        }
    }
}

/// How the code of a class reaches the tracker.
///
/// To resolve the name of the tracker the JVM calls `loadClass` of the loader that defined the class. A loader may run
/// rewritten code there, which would resolve the name again; it may deny or log names that it does not know, or wait for a lock.
/// So only classes of the bootstrap loader name the tracker. The others call `java/lang/Object.wait(JI)V` with arguments that
/// no program passes, and [`Plan::gate`] has that method pass them on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Route {
    /// By name. For classes of the bootstrap loader.
    #[default]
    Tracker,
    /// Through `wait` of `java/lang/Object`. For classes whose loader has resolved that name: the JVM does that before it
    /// defines a class that extends `java/lang/Object`.
    Object,
    /// Through `wait` of array classes, which the JVM finds without the loader. A method that begins or ends makes an
    /// empty array for it.
    Arrays,
}

/// What is to be put into a class. The default puts nothing in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Whom to call.
    pub tracker: TrackerNames,
    /// How to call it.
    pub route: Route,
    /// In `wait(JI)V` of `java/lang/Object`: pass on what comes by [`Route::Object`] and [`Route::Arrays`]. The class must be
    /// of version 50 or later.
    pub gate: bool,
    /// In `mount()V` and `unmount()V` of `java/lang/VirtualThread`: report that the thread is put onto this one, and leaves it.
    pub switches: bool,
    /// In the constructor of `java/lang/Object`: report the new object before each return.
    pub object_init: bool,
    /// After each instruction that makes an array: report it, and those that the same instruction has put into it.
    pub arrays: bool,
    /// In each method that gets a number: report its beginning, and its end before each return and when it throws.
    ///
    /// What a constructor throws before `super(…)` or `this(…)` has returned is not reported, nor what that call
    /// throws: the verifier allows no handler there. So an end may mean that of methods that began after it, too.
    pub calls: bool,
    /// Leave a method alone if it has at most so many bytes of code and would have more: the longest code that the JVM
    /// compiles. Nothing for no bound.
    pub longest_compiled: Option<usize>,
    /// Take each method apart and put it together again, even if nothing goes in. Without the above the bytes must
    /// come out as they went in, which is what this is for.
    pub every_method: bool,
}
