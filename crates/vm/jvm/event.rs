//! Events: their numbers, and how to switch them on and off (JVMTI, "Event Management").

use super::env::{call, Env};
use super::error::JvmtiError;
use super::slot;
use jni::sys::jobject;
use std::os::raw::c_void;

/// The resource that the JVM has run out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceKind {
    /// The Java heap.
    Heap,
    /// Threads: the system cannot start more.
    Threads,
    /// Another memory area: metaspace, or the compressed class space.
    Other,
}

impl ResourceKind {
    /// From the event's flags (`JVMTI_RESOURCE_EXHAUSTED_…`).
    pub fn of(flags: i32) -> Self {
        const JAVA_HEAP: i32 = 2;
        const THREADS: i32 = 4;
        if flags & JAVA_HEAP != 0 {
            Self::Heap
        } else if flags & THREADS != 0 {
            Self::Threads
        } else {
            Self::Other
        }
    }
}

/// An event that the agent listens to: its number and its name in `jvmti.h` without `JVMTI_EVENT_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    number: i32,
    /// Name for messages.
    pub name: &'static str,
}

impl Event {
    const fn new(number: i32, name: &'static str) -> Self {
        Self { number, name }
    }
}

/// The JVM has started: JNI and all of JVMTI may be used.
pub const VM_INIT: Event = Event::new(50, "VM_INIT");
/// The JVM is shutting down: the last moment at which the heap can be walked.
pub const VM_DEATH: Event = Event::new(51, "VM_DEATH");
/// A platform thread starts.
pub const THREAD_START: Event = Event::new(52, "THREAD_START");
/// A platform thread ends.
pub const THREAD_END: Event = Event::new(53, "THREAD_END");
/// A class file was read or generated. It may be changed before it is parsed.
pub const CLASS_FILE_LOAD_HOOK: Event = Event::new(54, "CLASS_FILE_LOAD_HOOK");
/// A class was loaded. Not sent for arrays.
pub const CLASS_LOAD: Event = Event::new(55, "CLASS_LOAD");
/// A class was linked: its fields and methods are known.
pub const CLASS_PREPARE: Event = Event::new(56, "CLASS_PREPARE");
/// A method was compiled.
pub const COMPILED_METHOD_LOAD: Event = Event::new(68, "COMPILED_METHOD_LOAD");
/// A dump was requested, by SIGQUIT or `jcmd PID JVMTI.data_dump`.
pub const DATA_DUMP_REQUEST: Event = Event::new(71, "DATA_DUMP_REQUEST");
/// The JVM is about to throw an OutOfMemoryError.
pub const RESOURCE_EXHAUSTED: Event = Event::new(80, "RESOURCE_EXHAUSTED");
/// A collection has ended. Sent on a thread that may not call anything.
pub const GARBAGE_COLLECTION_FINISH: Event = Event::new(82, "GARBAGE_COLLECTION_FINISH");
/// A thread starts to wait in `Object.wait`.
pub const MONITOR_WAIT: Event = Event::new(73, "MONITOR_WAIT");
/// A thread has finished waiting in `Object.wait`.
pub const MONITOR_WAITED: Event = Event::new(74, "MONITOR_WAITED");
/// A thread wants to enter a monitor that another thread owns.
pub const MONITOR_CONTENDED_ENTER: Event = Event::new(75, "MONITOR_CONTENDED_ENTER");
/// A thread has entered the monitor that it had to wait for.
pub const MONITOR_CONTENDED_ENTERED: Event = Event::new(76, "MONITOR_CONTENDED_ENTERED");
/// An allocated object was chosen as a sample; JDK 11 and later.
pub const SAMPLED_OBJECT_ALLOC: Event = Event::new(86, "SAMPLED_OBJECT_ALLOC");
/// Number of the first event, `JVMTI_MIN_EVENT_TYPE_VAL`.
const FIRST: i32 = 50;
/// Number of events up to the last one in JDK 25, which is 88.
const COUNT: usize = 39;

/// `jvmtiEventCallbacks`: one entry for each event, in the order of their numbers.
///
/// It is longer than an older JVM's struct. The size is passed along, and HotSpot uses the part it
/// knows.
#[repr(C)]
pub(super) struct Callbacks([*const c_void; COUNT]);

impl Callbacks {
    /// No callbacks.
    pub(super) fn new() -> Self {
        Self([std::ptr::null(); COUNT])
    }

    /// Sets the callback of one event.
    pub(super) fn set(&mut self, event: Event, callback: *const c_void) {
        let place = usize::try_from(event.number - FIRST).ok();
        if let Some(place) = place.and_then(|place| self.0.get_mut(place)) {
            *place = callback;
        }
    }
}

impl Env {
    /// Installs the callbacks, replacing earlier ones (`SetEventCallbacks`).
    ///
    /// # Safety
    /// Each callback has the signature that `jvmti.h` declares for its event, and lets no panic
    /// escape.
    pub(super) unsafe fn set_event_callbacks(
        &self,
        callbacks: &Callbacks,
    ) -> Result<(), JvmtiError> {
        let size =
            i32::try_from(std::mem::size_of::<Callbacks>()).map_err(|_| JvmtiError::INTERNAL)?;
        // SAFETY: the JVM copies the struct; the signatures are the caller's
        // promise.
        unsafe {
            call!(
                self,
                SET_EVENT_CALLBACKS(std::ptr::from_ref(callbacks).cast(), size)
            )
        }
    }

    /// Switches an event on or off for all threads (`SetEventNotificationMode`).
    pub fn notify(&self, event: Event, on: bool) -> Result<(), JvmtiError> {
        /// The type of the function in C.
        type Variadic =
            unsafe extern "C" fn(*mut jvmti_sys::jvmtiEnv, i32, i32, jobject, ...) -> i32;
        // SAFETY: without variadic arguments, HotSpot's platforms call it like this; null means all
        // threads.
        unsafe {
            let function = self.function(slot::SET_EVENT_NOTIFICATION_MODE)?;
            let function: Variadic = std::mem::transmute(function);
            let (on, all) = (i32::from(on), std::ptr::null_mut());
            JvmtiError::check(function(self.raw(), on, event.number, all))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_the_one_in_jvmti_h() {
        let header = super::super::slot::tests::jvmti_h();
        let all = [
            VM_INIT,
            VM_DEATH,
            THREAD_START,
            THREAD_END,
            CLASS_FILE_LOAD_HOOK,
            CLASS_LOAD,
            CLASS_PREPARE,
            GARBAGE_COLLECTION_FINISH,
            COMPILED_METHOD_LOAD,
            DATA_DUMP_REQUEST,
            MONITOR_WAIT,
            MONITOR_WAITED,
            MONITOR_CONTENDED_ENTER,
            MONITOR_CONTENDED_ENTERED,
            SAMPLED_OBJECT_ALLOC,
        ];
        for event in all {
            let start = format!("JVMTI_EVENT_{} = ", event.name);
            let line = header
                .lines()
                .find_map(|line| line.trim().strip_prefix(start.as_str()));
            match line {
                Some(rest) => assert_eq!(
                    rest.trim_end_matches(','),
                    event.number.to_string(),
                    "{}",
                    event.name
                ),
                None => assert!(event.number >= 86, "jvmti.h does not name {}", event.name),
            }
        }
    }

    #[test]
    fn callbacks_have_the_size_of_the_newest_header() {
        assert_eq!(std::mem::size_of::<Callbacks>(), 312);
    }
}
