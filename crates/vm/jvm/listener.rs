//! The receiver of the JVM's events (JVMTI, "Events"). The fence calls it by this trait and knows
//! nothing else of it.

use super::env::Env;
use super::event::ResourceKind;
use super::jni::Jni;
use super::object::Object;

/// A class file on its way into the JVM.
#[derive(Clone, Copy, Debug)]
pub struct ClassFileEvent<'a, 'f> {
    /// The file.
    pub bytes: &'a [u8],
    /// The loader that defines the class; `None` is the bootstrap loader.
    pub loader: Option<&'a Object<'f>>,
}

/// An object that was just allocated.
#[derive(Clone, Copy, Debug)]
pub struct Allocation<'a, 'f> {
    /// The thread that allocates.
    pub thread: &'a Object<'f>,
    /// The object.
    pub object: &'a Object<'f>,
    /// Its class.
    pub class: &'a Object<'f>,
    /// Its size in the heap.
    pub size_bytes: u64,
}

/// A thread that waits for a monitor.
#[derive(Clone, Copy, Debug)]
pub struct OfMonitor<'a, 'f> {
    /// The thread, which is the one that runs.
    pub thread: &'a Object<'f>,
    /// The object whose monitor it is.
    pub monitor: &'a Object<'f>,
}

/// One function an event: short, without I/O, and without a lock held across a JVM call.
///
/// All but `vm_death` and `garbage_collection_finish` are called between [`enter`](Self::enter) and
/// the drop of its answer. A panic ends in the fence.
pub trait Listener: Sized + 'static {
    /// Held while a callback runs.
    type Inside;

    /// The receiver; `None` before there is one.
    fn current() -> Option<&'static Self>;
    /// Admits a callback; `None` once events are no longer delivered.
    fn enter(&'static self) -> Option<Self::Inside>;
    /// The environment of the events.
    fn env(&self) -> &Env;

    /// `VMInit`.
    fn vm_init(&'static self, jni: &mut Jni<'_>);
    /// `VMDeath`: no event after this one.
    fn vm_death(&'static self, jni: &mut Jni<'_>);
    /// `ThreadStart`: a platform thread begins, on that thread.
    fn thread_start(&self, jni: &Jni<'_>, thread: &Object<'_>);
    /// `ThreadEnd`: a platform thread ends, on that thread.
    fn thread_end(&self, jni: &Jni<'_>, thread: &Object<'_>);
    /// `ClassFileLoadHook`: the class file to take instead; `None` for the one there is.
    fn class_file_load_hook(&self, jni: &Jni<'_>, file: ClassFileEvent<'_, '_>) -> Option<Vec<u8>>;
    /// The same for the class file of `java.lang.Object`, as all others have left it.
    fn object_file_load_hook(&self, jni: &Jni<'_>, file: ClassFileEvent<'_, '_>)
        -> Option<Vec<u8>>;
    /// `GarbageCollectionFinish`: in a safepoint, where nothing of the JVM may be called.
    fn garbage_collection_finish(&self);
    /// `ClassLoad`: a class was loaded, on the thread that loaded it.
    fn class_load(&self);
    /// `ClassPrepare`: a class was linked; its fields are known from now on.
    fn class_prepare(&self, class: &Object<'_>);
    /// `DataDumpRequest`: SIGQUIT or `jcmd PID JVMTI.data_dump`, on the thread that serves all
    /// signals of the JVM.
    fn data_dump_request(&self);
    /// `ResourceExhausted`: the JVM is about to throw an OutOfMemoryError, with this message. Not
    /// delivered on the agent's own threads.
    fn resource_exhausted(&self, jni: &Jni<'_>, kind: ResourceKind, what: &str);
    /// `SampledObjectAlloc`: an allocation that was chosen as a sample, on the thread that
    /// allocates.
    fn sampled_object_alloc(&self, jni: &Jni<'_>, allocation: &Allocation<'_, '_>);
    /// `MonitorContendedEnter`: the thread wants a monitor that another owns; it does not wait yet.
    fn contended_enter(&self, jni: &Jni<'_>, of: &OfMonitor<'_, '_>);
    /// `MonitorContendedEntered`: the thread owns the monitor. Others wait for it.
    fn contended_entered(&self, jni: &Jni<'_>, of: &OfMonitor<'_, '_>);
    /// `MonitorWait`: the thread begins to wait to be notified, this long at most; 0 is for ever.
    fn monitor_wait(&self, jni: &Jni<'_>, of: &OfMonitor<'_, '_>, timeout_millis: u64);
    /// `MonitorWaited`: the thread was notified, or interrupted, or has waited long enough.
    fn monitor_waited(&self, jni: &Jni<'_>, of: &OfMonitor<'_, '_>);
}
