//! A Java thread that runs the agent's own code (`RunAgentThread`): always a daemon.

use super::env::{call, Env};
use super::error::JvmtiError;
use super::jni::Jni;
use super::slot;
use jni::sys::{jobject, JNIEnv};
use jvmti_sys::jvmtiEnv;
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// `JVMTI_THREAD_NORM_PRIORITY`.
const NORMAL_PRIORITY: i32 = 5;

/// What an agent thread does: a plain function, so that nothing is owned by a thread that may never start.
pub(crate) type Body = fn(Jni<'_>);

impl Env {
    /// Starts a daemon thread with this name that runs `body`. Live phase only.
    pub(crate) fn run_agent_thread(
        self,
        jni: Jni<'_>,
        name: &str,
        body: Body,
    ) -> Result<(), JvmtiError> {
        let thread = jni.new_thread(name).ok_or(JvmtiError::INTERNAL)?;
        let argument = body as *const c_void;
        // SAFETY: types as in jvmti.h; `start` takes the argument back as what it was.
        unsafe {
            call!(
                self,
                slot::RUN_AGENT_THREAD,
                (
                    jobject,
                    unsafe extern "system" fn(*mut jvmtiEnv, *mut JNIEnv, *mut c_void),
                    *const c_void,
                    i32
                ),
                (thread.raw(), start, argument, NORMAL_PRIORITY)
            )
        }
    }
}

/// `jvmtiStartFunction`.
unsafe extern "system" fn start(_env: *mut jvmtiEnv, jni: *mut JNIEnv, argument: *mut c_void) {
    // SAFETY: `run_agent_thread` passed a `Body`.
    let body: Body = unsafe { std::mem::transmute(argument) };
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: this thread's environment, valid until the function returns.
        unsafe { Jni::enter(jni, body) };
    }));
}
