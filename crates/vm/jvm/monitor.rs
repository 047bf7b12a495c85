//! Monitors: which threads own them and which wait for them (JVMTI, "Thread" and "Object").
//!
//! We suspend no thread for these queries: for each answer, HotSpot stops the queried thread, or
//! all threads, for a moment. So two answers may be inconsistent if the application runs in
//! between.

use super::env::{call, get, Env};
use super::error::JvmtiError;
use super::jni::Jni;
use super::memory::{list, Allocated};
use super::object::Object;
use jni::sys::jobject;
use std::ptr::null_mut;

/// `jvmtiMonitorUsage` of `jvmti.h`.
#[repr(C)]
struct RawUsage {
    owner: jobject,
    entry_count: i32,
    waiter_count: i32,
    waiters: *mut jobject,
    notify_waiter_count: i32,
    notify_waiters: *mut jobject,
}

/// The threads that own a monitor, and that wait for it.
#[derive(Debug)]
pub struct MonitorUsage<'f> {
    /// The owner; `None` if there is none, and since JDK 23 if it is a virtual thread.
    pub owner: Option<Object<'f>>,
    /// How often the owner entered without leaving.
    pub entry_count: u32,
    /// Threads that wait to enter. Before JDK 23 also those that wait to be notified.
    pub waiters: Vec<Object<'f>>,
    /// Threads that wait to be notified.
    pub notify_waiters: Vec<Object<'f>>,
}

impl Env {
    /// The monitors that a platform thread has entered and not left (`GetOwnedMonitorInfo`).
    ///
    /// Needs `can_get_owned_monitor_info`.
    pub fn owned_monitors<'f>(
        &self,
        _frame: &Jni<'f>,
        thread: &Object<'_>,
    ) -> Result<Vec<Object<'f>>, JvmtiError> {
        // SAFETY: the handle is live; on success local references made in the current frame.
        unsafe { list!(self, GET_OWNED_MONITOR_INFO(thread.raw())).map(|it| it.objects()) }
    }

    /// The monitor that a thread waits to enter, or waits for in `Object.wait`
    /// (`GetCurrentContendedMonitor`).
    ///
    /// Needs `can_get_current_contended_monitor`.
    pub fn contended_monitor<'f>(
        &self,
        _frame: &Jni<'f>,
        thread: &Object<'_>,
    ) -> Result<Option<Object<'f>>, JvmtiError> {
        // SAFETY: on success null or a local reference made in the current frame.
        unsafe {
            let monitor = get!(self, GET_CURRENT_CONTENDED_MONITOR(thread.raw()))?;
            Ok(Object::from_raw(monitor))
        }
    }

    /// The threads that own a monitor and that wait for it (`GetObjectMonitorUsage`).
    ///
    /// Needs `can_get_monitor_info`. Threads that the JVM does not name are left out.
    pub fn monitor_usage<'f>(
        &self,
        _frame: &Jni<'f>,
        monitor: &Object<'_>,
    ) -> Result<MonitorUsage<'f>, JvmtiError> {
        let mut usage = RawUsage {
            owner: null_mut(),
            entry_count: 0,
            waiter_count: 0,
            waiters: null_mut(),
            notify_waiter_count: 0,
            notify_waiters: null_mut(),
        };
        // SAFETY: `usage` outlives the call.
        unsafe {
            call!(
                self,
                GET_OBJECT_MONITOR_USAGE(monitor.raw(), (&raw mut usage).cast())
            )
        }?;
        // SAFETY: on success null or local references made in the current frame, as many as each
        // count says.
        unsafe {
            Ok(MonitorUsage {
                owner: Object::from_raw(usage.owner),
                entry_count: u32::try_from(usage.entry_count).unwrap_or(0),
                waiters: Allocated::new(self, usage.waiters, usage.waiter_count).objects(),
                notify_waiters: Allocated::new(
                    self,
                    usage.notify_waiters,
                    usage.notify_waiter_count,
                )
                .objects(),
            })
        }
    }
}
