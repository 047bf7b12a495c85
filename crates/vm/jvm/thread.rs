//! Threads and their groups (JVMTI, "Thread" and "Thread Group").

use super::env::{call, get, Env};
use super::error::JvmtiError;
use super::jni::Jni;
use super::memory::{list, text};
use super::object::Object;
use jni::sys::jobject;
use jvmti_sys::jvmtiThreadInfo;
use std::os::raw::{c_char, c_void};
use std::ptr::null_mut;

/// `jvmtiThreadGroupInfo` of `jvmti.h`.
#[repr(C)]
struct GroupInfo {
    parent: jobject,
    name: *mut c_char,
    max_priority: i32,
    is_daemon: u8,
}

/// A thread's name and the names of its groups, in modified UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadNames {
    /// Empty for a thread without a name, as most virtual threads are.
    pub name: Vec<u8>,
    /// Name of its group; empty for a thread that has ended, which has none.
    pub group: Vec<u8>,
    /// Name of the group's parent; empty for the topmost group.
    pub parent_group: Vec<u8>,
}

/// The state of a thread: the bits of `JVMTI_THREAD_STATE_…`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadState(i32);

impl ThreadState {
    /// It has started and has not ended.
    pub const ALIVE: Self = Self(0x1);
    /// It has ended.
    pub const TERMINATED: Self = Self(0x2);
    /// It runs, or could.
    pub const RUNNABLE: Self = Self(0x4);
    /// It sleeps.
    pub const SLEEPING: Self = Self(0x40);
    /// It waits, in whatever way.
    pub const WAITING: Self = Self(0x80);
    /// It waits in `Object.wait`.
    pub const IN_OBJECT_WAIT: Self = Self(0x100);
    /// It waits to enter a monitor.
    pub const BLOCKED_ON_MONITOR_ENTER: Self = Self(0x400);
    /// Somebody has suspended it.
    pub const SUSPENDED: Self = Self(0x10_0000);
    /// It has been interrupted.
    pub const INTERRUPTED: Self = Self(0x20_0000);
    /// It runs native code.
    pub const IN_NATIVE: Self = Self(0x40_0000);

    /// The state with these bits.
    #[cfg(any(test, feature = "invented"))]
    pub fn of_bits(bits: i32) -> Self {
        Self(bits)
    }

    /// Whether all bits of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl Env {
    /// The state of a thread (`GetThreadState`).
    pub fn thread_state(&self, thread: &Object<'_>) -> Result<ThreadState, JvmtiError> {
        // SAFETY: the handle is live.
        unsafe { get!(self, GET_THREAD_STATE(thread.raw())) }.map(ThreadState)
    }

    /// The calling thread, which must be attached (`GetCurrentThread`).
    pub fn current_thread<'f>(&self, _frame: &Jni<'f>) -> Result<Object<'f>, JvmtiError> {
        // SAFETY: on success a local reference made in the current frame.
        unsafe { Object::from_raw(get!(self, GET_CURRENT_THREAD())?) }.ok_or(JvmtiError::INTERNAL)
    }

    /// The platform threads that are alive (`GetAllThreads`).
    pub fn live_threads<'f>(&self, _frame: &Jni<'f>) -> Result<Vec<Object<'f>>, JvmtiError> {
        // SAFETY: on success local references made in the current frame.
        unsafe { list!(self, GET_ALL_THREADS()).map(|it| it.objects()) }
    }

    /// The number that [`Self::set_thread_number`] gave a thread, virtual or not; 0 if none
    /// (`GetThreadLocalStorage`).
    pub fn thread_number(&self, thread: &Object<'_>) -> Result<usize, JvmtiError> {
        // SAFETY: the stored value is a number and is never dereferenced.
        unsafe { get!(self, GET_THREAD_LOCAL_STORAGE(thread.raw())) }.map(|number| number as usize)
    }

    /// Gives a thread a number for its lifetime (`SetThreadLocalStorage`).
    pub fn set_thread_number(&self, thread: &Object<'_>, number: usize) -> Result<(), JvmtiError> {
        // SAFETY: the JVM stores the word without dereferencing it.
        unsafe {
            call!(
                self,
                SET_THREAD_LOCAL_STORAGE(thread.raw(), number as *const c_void)
            )
        }
    }

    /// The thread's name and groups (`GetThreadInfo`, `GetThreadGroupInfo`).
    pub fn thread_names(
        &self,
        jni: &Jni<'_>,
        thread: &Object<'_>,
    ) -> Result<ThreadNames, JvmtiError> {
        let mut info = jvmtiThreadInfo::default();
        // SAFETY: `info` outlives the call.
        unsafe { call!(self, GET_THREAD_INFO(thread.raw(), &mut info)) }?;
        // SAFETY: on success null or a NUL-terminated string that is ours, and two local references
        // or null.
        let (name, group, loader) = unsafe {
            let name = text(self, info.name);
            (
                name,
                Object::from_raw(info.thread_group),
                Object::from_raw(info.context_class_loader),
            )
        };
        if let Some(loader) = loader {
            jni.forget(loader);
        }
        let (group, parent) = self.group(jni, group)?;
        let (parent_group, grandparent) = self.group(jni, parent)?;
        if let Some(grandparent) = grandparent {
            jni.forget(grandparent);
        }
        Ok(ThreadNames {
            name,
            group,
            parent_group,
        })
    }

    /// Name and parent of a group; releases the group. Empty and `None` for `None`.
    fn group<'f>(
        &self,
        jni: &Jni<'f>,
        group: Option<Object<'_>>,
    ) -> Result<(Vec<u8>, Option<Object<'f>>), JvmtiError> {
        let Some(group) = group else {
            return Ok((Vec::new(), None));
        };
        let mut info = GroupInfo {
            parent: null_mut(),
            name: null_mut(),
            max_priority: 0,
            is_daemon: 0,
        };
        // SAFETY: `info` outlives the call.
        let answer = unsafe {
            call!(
                self,
                GET_THREAD_GROUP_INFO(group.raw(), (&raw mut info).cast())
            )
        };
        jni.forget(group);
        answer?;
        // SAFETY: on success null or a NUL-terminated string that is ours, and a local reference or
        // null.
        unsafe { Ok((text(self, info.name), Object::from_raw(info.parent))) }
    }
}
