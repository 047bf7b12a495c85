//! The heap walk: `FollowReferences` and its callbacks as safe values (JVMTI, "Heap").
//!
//! The callbacks run on the VM thread inside a safepoint. A [`Visitor`] therefore gets no
//! environment: it can call neither JNI nor JVMTI, and it must take no lock that a Java thread may
//! hold.

use super::env::{call, Env};
use super::error::JvmtiError;
use super::method::MethodId;
use jni::sys::jlong;
use jvmti_sys::{jvmtiHeapReferenceInfoJniLocal, jvmtiHeapReferenceInfoStackLocal};
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null_mut;

/// `JVMTI_VISIT_OBJECTS`: go on to what the object refers to.
const VISIT_OBJECTS: i32 = 0x100;
/// `JVMTI_VISIT_ABORT`: end the walk.
const VISIT_ABORT: i32 = 0x8000;

/// Whether the walk goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Go on, and visit what the object refers to.
    On,
    /// End the walk now.
    Abort,
}

impl Visit {
    fn code(self) -> i32 {
        match self {
            Self::On => VISIT_OBJECTS,
            Self::Abort => VISIT_ABORT,
        }
    }
}

/// Which objects a walk reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reports {
    /// All.
    All,
    /// Those with a tag. The walk visits the others as well.
    Tagged,
}

impl Reports {
    /// The filter (JVMTI, "Heap Filter Flags").
    fn filter(self) -> i32 {
        /// `JVMTI_HEAP_FILTER_UNTAGGED`.
        const NOT_UNTAGGED: i32 = 8;
        match self {
            Self::All => 0,
            Self::Tagged => NOT_UNTAGGED,
        }
    }
}

/// The frame that a stack root was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootFrame {
    /// Tag of the thread object; 0 if it had none when the JVM came to the thread.
    pub thread_tag: i64,
    /// The JVM's own number of the thread, `Thread.threadId()` on HotSpot.
    pub thread_id: i64,
    /// Frames above this one; 0 is the top.
    pub depth: u32,
    /// The frame's method; `None` for a thread without Java frames.
    pub method: Option<MethodId>,
    /// Index of the bytecode, -1 in a native method; `None` where JVMTI does not report it (JNI
    /// locals).
    pub location: Option<i64>,
}

/// How an object is referred to (`jvmtiHeapReferenceKind`). Kinds that are no roots are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// Root: a global JNI reference.
    JniGlobal,
    /// Root: a class that is never unloaded, or what its loader's data holds.
    SystemClass,
    /// Root: a monitor in use.
    Monitor,
    /// Root: a local variable or operand of a Java frame.
    StackLocal(RootFrame),
    /// Root: a local JNI reference.
    JniLocal(RootFrame),
    /// Root: a live thread.
    Thread,
    /// Root of another kind, or of a kind that newer JVMs invented.
    Other,
    /// Not a root: from an object or a class.
    FromObject,
}

/// The object that a reference leads to.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Tag of the object's class; 0 if it has none.
    pub class_tag: i64,
    /// Size in the heap, in bytes.
    pub size_bytes: u64,
}

/// An object's tag, readable during one callback.
#[derive(Debug)]
pub struct TagCell(*mut jlong);

impl TagCell {
    /// The tag; 0 is none.
    pub fn get(&self) -> i64 {
        // SAFETY: made by a callback from the JVM's pointer, valid until it returns; the two cells
        // of a callback may be one word, but no reference to it is ever made.
        unsafe { self.0.read() }
    }

    /// Where the JVM keeps the tag: on its own stack, until the callback returns.
    pub fn raw(&self) -> *mut jlong {
        self.0
    }

    /// Whether both are the tag of one object in one callback.
    pub fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

/// The receiver of a walk's callbacks. `Abort` from any of them ends the walk.
pub trait Visitor {
    /// The walk begins. The JVM gets its callbacks at this address.
    fn begins(&mut self, callbacks: u64);

    /// A reference to `object`; `referrer` is `None` for roots.
    fn reference(
        &mut self,
        kind: Reference,
        target: Target,
        object: &TagCell,
        referrer: Option<&TagCell>,
    ) -> Visit;
}

/// `jvmtiHeapCallbacks`: five callbacks, eleven reserved places.
#[repr(C)]
struct Callbacks([*const c_void; 16]);

/// What the callbacks get as user data.
struct Walk<'v, V> {
    visitor: &'v mut V,
    panicked: bool,
}

impl<V> Walk<'_, V> {
    /// Runs one callback; a panic ends the walk and stays here.
    fn guard(&mut self, callback: impl FnOnce(&mut V) -> Visit) -> i32 {
        if self.panicked {
            return VISIT_ABORT;
        }
        let visitor = &mut *self.visitor;
        match catch_unwind(AssertUnwindSafe(|| callback(visitor))) {
            Ok(visit) => visit.code(),
            Err(_) => {
                self.panicked = true;
                VISIT_ABORT
            }
        }
    }
}

impl Env {
    /// Tells `visitor` of every root, and of every object reachable from them, at one moment
    /// (`FollowReferences`). With [`Reports::Tagged`] only of those that have a tag.
    ///
    /// The application stands still until this returns. Needs `can_tag_objects`.
    pub fn follow_references<V: Visitor>(
        &self,
        visitor: &mut V,
        reports: Reports,
    ) -> Result<(), JvmtiError> {
        let mut walk = Walk {
            visitor,
            panicked: false,
        };
        let mut callbacks = Callbacks([std::ptr::null(); 16]);
        let [_, reference_at, ..] = &mut callbacks.0;
        *reference_at = reference::<V> as *const c_void;
        walk.visitor.begins(std::ptr::from_ref(&callbacks) as u64);
        let user_data: *mut Walk<'_, V> = &mut walk;
        // SAFETY: callbacks and user data outlive the call, and the callbacks
        // run during it only, one at a time; no class, no initial object.
        let answer = unsafe {
            call!(
                self,
                FOLLOW_REFERENCES(
                    reports.filter(),
                    null_mut(),
                    null_mut(),
                    (&raw const callbacks).cast(),
                    user_data.cast()
                )
            )
        };
        if walk.panicked {
            return Err(JvmtiError::INTERNAL);
        }
        answer
    }
}

/// `jvmtiHeapReferenceCallback`.
#[allow(clippy::too_many_arguments)] // the signature is the JVM's
unsafe extern "system" fn reference<V: Visitor>(
    kind: i32,
    info: *const c_void,
    class_tag: jlong,
    _referrer_class_tag: jlong,
    size: jlong,
    tag: *mut jlong,
    referrer_tag: *mut jlong,
    _length: i32,
    user_data: *mut c_void,
) -> i32 {
    // SAFETY: `user_data` is the walk that `follow_references` holds exclusively for us.
    let walk = unsafe { &mut *user_data.cast::<Walk<'_, V>>() };
    // SAFETY: the JVM fills `info` as `kind` says.
    let kind = unsafe { decode(kind, info) };
    let target = Target {
        class_tag,
        size_bytes: u64::try_from(size).unwrap_or(0),
    };
    let object = TagCell(tag);
    let referrer = (!referrer_tag.is_null()).then_some(TagCell(referrer_tag));
    walk.guard(|visitor| visitor.reference(kind, target, &object, referrer.as_ref()))
}

/// Reads the part of `jvmtiHeapReferenceInfo` that belongs to `kind`.
///
/// # Safety
/// `info` points at the information that the JVM gives for `kind`, or may be null where there is
/// none.
unsafe fn decode(kind: i32, info: *const c_void) -> Reference {
    // SAFETY: jvmti.h says which struct each kind comes with; it is read for that kind only.
    unsafe {
        match kind {
            1..=10 => Reference::FromObject,
            21 => Reference::JniGlobal,
            22 => Reference::SystemClass,
            23 => Reference::Monitor,
            24 => {
                let info = &*info.cast::<jvmtiHeapReferenceInfoStackLocal>();
                Reference::StackLocal(RootFrame {
                    thread_tag: info.thread_tag,
                    thread_id: info.thread_id,
                    depth: u32::try_from(info.depth).unwrap_or(0),
                    method: MethodId::from_raw(info.method),
                    location: Some(info.location),
                })
            }
            25 => {
                let info = &*info.cast::<jvmtiHeapReferenceInfoJniLocal>();
                Reference::JniLocal(RootFrame {
                    thread_tag: info.thread_tag,
                    thread_id: info.thread_id,
                    depth: u32::try_from(info.depth).unwrap_or(0),
                    method: MethodId::from_raw(info.method),
                    location: None,
                })
            }
            26 => Reference::Thread,
            _ => Reference::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_in_a_visitor_ends_the_walk() {
        struct Bad;
        impl Visitor for Bad {
            fn begins(&mut self, _: u64) {}
            fn reference(
                &mut self,
                _: Reference,
                _: Target,
                _: &TagCell,
                _: Option<&TagCell>,
            ) -> Visit {
                panic!("a fault of ours")
            }
        }
        let mut walk = Walk {
            visitor: &mut Bad,
            panicked: false,
        };
        let mut tag: jlong = 0;
        let data: *mut Walk<'_, Bad> = &mut walk;
        // SAFETY: the arguments are what the JVM would pass for a thread root.
        let answer = unsafe {
            reference::<Bad>(
                26,
                std::ptr::null(),
                0,
                0,
                16,
                &mut tag,
                null_mut(),
                -1,
                data.cast(),
            )
        };
        assert_eq!(answer, VISIT_ABORT);
        assert!(walk.panicked);
    }
}
