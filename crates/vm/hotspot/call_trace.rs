//! HotSpot's own function for profilers, `AsyncGetCallTrace`: returns the Java stack of the running
//! thread inside a signal handler.
//!
//! A native method may call it, too.
//!
//! It belongs to no specification. Sun's Forte analyzer looked it up by name, and so have profilers
//! since then; HotSpot has had it since 1.4. It neither waits nor allocates, and returns a count
//! below 1 when it finds no stack.

use super::exported::exported_function;
use jni::sys::{jmethodID, JNIEnv};
use jvm::jni::Jni;
use jvm::method::MethodId;
use jvm::stack::StackFrame;
use std::os::raw::c_void;
use std::ptr::null_mut;

/// `ASGCT_CallFrame`: a method and a location in it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CallFrame {
    /// Bytecode index; negative in a native method. HotSpot calls it `lineno`.
    pub location: i32,
    /// The method; null if it has no id yet because nobody has asked for one.
    pub method: jmethodID,
}

/// `ASGCT_CallTrace`.
#[repr(C)]
#[derive(Debug)]
pub struct CallTrace {
    /// The thread's own environment.
    pub jni: *mut JNIEnv,
    /// Number of frames found; if below 1, the reason why there are none.
    pub count: i32,
    /// Buffer for frames, the top first.
    pub frames: *mut CallFrame,
}

/// `void AsyncGetCallTrace(ASGCT_CallTrace*, jint depth, void* ucontext)`.
pub type AsyncGetCallTrace = unsafe extern "C" fn(*mut CallTrace, i32, *mut c_void);

/// Looks the function up in the JVM of this process; `None` if it has none.
pub fn find() -> Option<AsyncGetCallTrace> {
    let address = exported_function(c"AsyncGetCallTrace")?;
    // SAFETY: the function of this name has always had this signature.
    Some(unsafe { std::mem::transmute::<*mut c_void, AsyncGetCallTrace>(address) })
}

/// The calling thread's stack, outside of signal handlers, in a third of the time that
/// `GetStackTrace` takes.
#[derive(Debug)]
pub struct OwnStack {
    get_call_trace: AsyncGetCallTrace,
    frames: Vec<CallFrame>,
}

impl OwnStack {
    /// `None` if this JVM has no such function.
    pub fn find() -> Option<Self> {
        Some(Self {
            get_call_trace: find()?,
            frames: Vec::new(),
        })
    }

    /// Stores the top frames, at most `capacity`, in `stack`, as `GetStackTrace` does. They may be
    /// others: too few where a virtual thread has some in the heap, and below its own those of its
    /// carrier. `None` if HotSpot reports none,
    /// as during a collection, or if a method has no id yet. Only in a native method.
    pub fn read(
        &mut self,
        jni: &Jni<'_>,
        stack: &mut Vec<StackFrame>,
        capacity: usize,
    ) -> Option<()> {
        self.frames.clear();
        self.frames.try_reserve(capacity).ok()?;
        let depth = i32::try_from(capacity).ok()?;
        let mut trace = CallTrace {
            jni: jni.address() as *mut JNIEnv,
            count: 0,
            frames: self.frames.as_mut_ptr(),
        };
        // SAFETY: the thread's own environment; there is room for `depth` frames. The registers in
        // the last argument are not read for a thread that runs a native method. A safepoint may
        // begin meanwhile: HotSpot checks each frame, as it does in profilers' signal handlers. Of
        // the frames, `count` are written.
        unsafe {
            (self.get_call_trace)(&mut trace, depth, null_mut());
            let count = usize::try_from(trace.count).ok()?;
            self.frames.set_len(count.min(capacity));
        }
        stack.clear();
        for frame in &self.frames {
            stack.push(StackFrame {
                method: MethodId::from_raw(frame.method)?,
                location: i64::from(frame.location).max(-1),
            });
        }
        Some(())
    }
}

/// Why a sample has no stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackFault(i32);

impl StackFault {
    /// A method in the stack has no id: its class was linked before the agent could ask for one.
    pub const UNNAMED: Self = Self(i32::MIN);
    /// The ring was full.
    pub const RING_FULL: Self = Self(i32::MIN + 1);

    /// The thread has ended before the clock's next tick.
    pub const ENDED: Self = Self(i32::MIN + 2);

    /// A sample's count while HotSpot's handler suspends the thread. HotSpot's own codes end far
    /// above it.
    pub const SUSPENDED_COUNT: i32 = -100;

    /// The meaning of [`CallTrace::count`] when it is below 1.
    pub fn of_count(count: i32) -> Self {
        Self(count)
    }

    /// Whether a count means that the thread runs Java code whose stack HotSpot cannot read
    /// (`ticks_unknown_Java`, `ticks_not_walkable_Java`; forte.cpp).
    pub fn is_unreadable_java(count: i32) -> bool {
        matches!(count, -6 | -5)
    }

    /// The thread runs, but not Java code. That is no loss.
    pub fn is_outside_of_java(self) -> bool {
        self.0 == 0
    }

    /// The reason, for a list of reasons.
    pub fn reason(self) -> &'static str {
        match self {
            Self::UNNAMED => "in methods without an id",
            Self::RING_FULL => "too many at once",
            Self::ENDED => "as threads ended before the clock ticked",
            Self(-1) => "class loading is not reported",
            Self(-2) => "during a collection",
            Self(Self::SUSPENDED_COUNT) => {
                "while HotSpot held the thread, as for its flight recorder"
            }
            // Stubs, and the moments when a frame is set up or removed.
            Self(-6..=-3) => "in code without a readable stack",
            Self(-8) => "in threads that end",
            Self(-9) => "during deoptimization",
            Self(-10) => "at safepoints",
            Self(_) => "for an unknown reason",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_traces_have_hotspots_layout() {
        assert_eq!(std::mem::size_of::<CallFrame>(), 16);
        assert_eq!(std::mem::offset_of!(CallFrame, method), 8);
        assert_eq!(std::mem::size_of::<CallTrace>(), 24);
        assert_eq!(std::mem::offset_of!(CallTrace, frames), 16);
    }

    #[test]
    fn where_there_is_no_jvm_there_is_no_function() {
        assert!(find().is_none());
    }

    #[test]
    fn no_java_code_is_no_loss() {
        assert!(StackFault::of_count(0).is_outside_of_java());
        assert!(!StackFault::of_count(-5).is_outside_of_java());
    }
}
