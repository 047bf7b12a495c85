//! What to insert into a class.

/// How the code of a class reaches the tracker.
///
/// To resolve the name of the tracker, the JVM calls `loadClass` of the loader that defined the
/// class. That may run rewritten code, which would resolve the name again; the loader may reject or
/// log unknown names, or wait for a lock. So only classes of the bootstrap loader refer to the
/// tracker by name. The others call `java/lang/Object.wait(JI)V` with arguments that no program
/// uses, and [`Plan::gate`] makes that method forward them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Route {
    /// By name. For classes of the bootstrap loader.
    #[default]
    Tracker,
    /// Through `wait` of `java/lang/Object`. For classes whose loader has resolved that name, which
    /// the JVM does before it defines a class that extends `java/lang/Object`.
    Object,
    /// Through `wait` of array classes, which the JVM finds without the loader. To report its start
    /// or end, a method creates an empty array.
    Arrays,
}

/// What to insert into a class. By default nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// How to call the tracker.
    pub route: Route,
    /// In `wait(JI)V` of `java/lang/Object`: forward calls by [`Route::Object`] and
    /// [`Route::Arrays`]. The class must have version 50 or later.
    pub gate: bool,
    /// In `mount()V` and `unmount()V` of `java/lang/VirtualThread`: report that the thread is
    /// mounted on this one, or unmounted from it.
    pub switches: bool,
    /// In the constructor of `java/lang/Object`: report the new object before each return.
    pub object_init: bool,
    /// In the constructors of `java/lang/OutOfMemoryError`: report the new error before each
    /// return. Those of its subclasses call them.
    pub error_init: bool,
    /// After each instruction that creates an array: report it, and the arrays that the same
    /// instruction has put into it.
    pub arrays: bool,
    /// In each method with a number: report its start, and its end before each return and when it
    /// throws.
    ///
    /// Exceptions of a constructor before `super(…)` or `this(…)` has returned are not reported,
    /// nor those thrown by that call: the verifier allows no handler there. So the end of a method
    /// may also mean the end of methods that started after it.
    pub calls: bool,
    /// Skip a method if it has at most this many bytes of code and would exceed them: the longest
    /// code that the JVM compiles. `None` for no limit.
    pub longest_compiled: Option<usize>,
    /// Parse and reassemble each method even if nothing is inserted. Without the options above, the
    /// bytes must be unchanged; tests rely on this.
    pub every_method: bool,
}
