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
    /// Called with the method's number when it begins, `(I)V`.
    pub enter: &'static str,
    /// Called with the method's number when it returns or throws, `(I)V`.
    pub exit: &'static str,
}

impl Default for TrackerNames {
    /// `java/lang/HprofTracker` with `objectInit`, `newArray`, `enter` and `exit`: every class loader asks the bootstrap
    /// loader for what is in `java/lang`, and every module reads `java.base`.
    ///
    /// The native methods are in a package of their own, and so in no named module: for those of a named one HotSpot
    /// warns on stdout when they are registered.
    fn default() -> Self {
        Self {
            class: "java/lang/HprofTracker",
            natives: "hprof_rs/TrackerNatives",
            object_init: "objectInit",
            new_array: "newArray",
            enter: "enter",
            exit: "exit",
        }
    }
}

/// What is to be put into a class. The default puts nothing in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Whom to call.
    pub tracker: TrackerNames,
    /// In the constructor of `java/lang/Object`: report the new object before each return.
    pub object_init: bool,
    /// After each instruction that makes an array: report it.
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
