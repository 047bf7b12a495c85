//! A Java thread that runs the agent's own code (`RunAgentThread`): always a daemon.

use super::env::{call, Env};
use super::error::JvmtiError;
use super::jni::Jni;
use super::memory::list;
use super::object::Object;
use jni::sys::JNIEnv;
use jvmti_sys::jvmtiEnv;
use std::cell::Cell;
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// `JVMTI_THREAD_NORM_PRIORITY`.
const NORMAL_PRIORITY: i32 = 5;

/// The code of an agent thread. Never dropped if the JVM takes the thread but does not run it.
pub type Body = Box<dyn FnOnce(&mut Jni<'_>) + Send>;

thread_local! {
    /// Set on the agent's own threads.
    static IS_AGENT_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Whether this code runs on an agent thread, whose own activity does not concern the user.
pub(super) fn is_agent_thread() -> bool {
    IS_AGENT_THREAD.get()
}

impl Env {
    /// Starts a daemon thread with this name, in the JVM's top thread group, that runs `body`. Live
    /// phase only.
    ///
    /// Runs Java code, the constructor of `Thread`, so do not call it on a thread that the
    /// application may block.
    pub fn run_agent_thread(
        &self,
        jni: &Jni<'_>,
        name: &str,
        body: Body,
    ) -> Result<(), JvmtiError> {
        let class = self.thread_class(jni)?;
        let group = self.top_thread_group(jni)?;
        let thread = jni
            .new_thread(&class, &group, name)
            .ok_or(JvmtiError::INTERNAL)?;
        let argument = Box::into_raw(Box::new(body));
        // SAFETY: `start` converts the argument back to its type.
        let started = unsafe {
            call!(
                self,
                RUN_AGENT_THREAD(
                    thread.raw(),
                    start,
                    argument.cast::<c_void>().cast_const(),
                    NORMAL_PRIORITY
                )
            )
        };
        if started.is_err() {
            // SAFETY: made above; the JVM has not taken it.
            drop(unsafe { Box::from_raw(argument) });
        }
        started
    }

    /// `java.lang.Thread`: the class of the current thread or one of its superclasses.
    fn thread_class<'f>(&self, jni: &Jni<'f>) -> Result<Object<'f>, JvmtiError> {
        let thread = self.current_thread(jni)?;
        let mut class = jni.class_of(&thread).ok_or(JvmtiError::INTERNAL)?;
        while self.class_signature(&class)? != b"Ljava/lang/Thread;" {
            class = jni.superclass(&class).ok_or(JvmtiError::INTERNAL)?;
        }
        Ok(class)
    }

    /// The top thread group; HotSpot names it `system` (`GetTopThreadGroups`).
    fn top_thread_group<'f>(&self, _frame: &Jni<'f>) -> Result<Object<'f>, JvmtiError> {
        // SAFETY: on success local references made in the current frame.
        let groups = unsafe { list!(self, GET_TOP_THREAD_GROUPS())?.objects() };
        groups.into_iter().next().ok_or(JvmtiError::INTERNAL)
    }
}

/// `jvmtiStartFunction`.
unsafe extern "system" fn start(_env: *mut jvmtiEnv, jni: *mut JNIEnv, argument: *mut c_void) {
    // SAFETY: `run_agent_thread` passed a boxed `Body`, and the JVM calls this once.
    let body = unsafe { Box::from_raw(argument.cast::<Body>()) };
    IS_AGENT_THREAD.set(true);
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: this thread's environment, valid until the function returns.
        unsafe { Jni::enter(jni, |jni| (*body)(jni)) };
    }));
}
