//! What JVMTI tells of a thread and its group (JVMTI, "Thread" and "Thread Group").

use super::env::{call, Env};
use super::error::JvmtiError;
use super::jni::Jni;
use super::memory::Allocated;
use super::object::Object;
use super::slot;
use jni::sys::jobject;
use jvmti_sys::jvmtiThreadInfo;
use std::os::raw::c_char;
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
pub(crate) struct ThreadNames {
    /// Empty for a thread without a name, as most virtual threads are.
    pub(crate) name: Vec<u8>,
    /// Name of its group; empty if it has none: a thread that has ended.
    pub(crate) group: Vec<u8>,
    /// Name of the group's parent; empty for the topmost group.
    pub(crate) parent_group: Vec<u8>,
}

impl Env {
    /// The thread that runs this code; needs an attached thread (`GetCurrentThread`).
    pub(crate) fn current_thread<'f>(self, _frame: Jni<'f>) -> Result<Object<'f>, JvmtiError> {
        let mut thread: jobject = null_mut();
        // SAFETY: types as in jvmti.h; `thread` outlives the call.
        unsafe {
            call!(
                self,
                slot::GET_CURRENT_THREAD,
                (*mut jobject),
                (&mut thread)
            )
        }?;
        // SAFETY: a local reference made in the current frame.
        unsafe { Object::from_raw(thread) }.ok_or(JvmtiError::INTERNAL)
    }

    /// How many platform threads are alive (`GetAllThreads`).
    pub(crate) fn live_threads(self, jni: Jni<'_>) -> Result<usize, JvmtiError> {
        let (mut count, mut threads): (i32, *mut jobject) = (0, null_mut());
        // SAFETY: types as in jvmti.h; both out-parameters outlive the call.
        unsafe {
            call!(
                self,
                slot::GET_ALL_THREADS,
                (*mut i32, *mut *mut jobject),
                (&mut count, &mut threads)
            )
        }?;
        // SAFETY: on success `threads` holds `count` local references.
        let threads = unsafe { Allocated::new(self, threads, count) };
        for &raw in threads.as_slice() {
            // SAFETY: a local reference of this frame, given up at once.
            if let Some(thread) = unsafe { Object::from_raw(raw) } {
                jni.forget(thread);
            }
        }
        Ok(threads.as_slice().len())
    }

    /// The thread's name and groups (`GetThreadInfo`, `GetThreadGroupInfo`).
    pub(crate) fn thread_names(self, thread: Object<'_>) -> Result<ThreadNames, JvmtiError> {
        let mut info = jvmtiThreadInfo::default();
        // SAFETY: types as in jvmti.h; `info` outlives the call.
        unsafe {
            call!(
                self,
                slot::GET_THREAD_INFO,
                (jobject, *mut jvmtiThreadInfo),
                (thread.raw(), &mut info)
            )
        }?;
        // SAFETY: on success null or a NUL-terminated string that is ours.
        let name = unsafe { Allocated::string(self, info.name) }.to_bytes();
        let (group, parent) = self.group(info.thread_group)?;
        let (parent_group, _) = self.group(parent)?;
        Ok(ThreadNames {
            name,
            group,
            parent_group,
        })
    }

    /// Name and parent of a group; empty and null for null.
    fn group(self, group: jobject) -> Result<(Vec<u8>, jobject), JvmtiError> {
        if group.is_null() {
            return Ok((Vec::new(), null_mut()));
        }
        let mut info = GroupInfo {
            parent: null_mut(),
            name: null_mut(),
            max_priority: 0,
            is_daemon: 0,
        };
        // SAFETY: types as in jvmti.h; `group` is a local reference that JVMTI has just made.
        unsafe {
            call!(
                self,
                slot::GET_THREAD_GROUP_INFO,
                (jobject, *mut GroupInfo),
                (group, &mut info)
            )
        }?;
        // SAFETY: on success null or a NUL-terminated string that is ours.
        let name = unsafe { Allocated::string(self, info.name) }.to_bytes();
        Ok((name, info.parent))
    }
}
