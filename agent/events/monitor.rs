//! The events of monitors: threads that must wait to enter one, and `Object.wait`. Each comes on the thread that waits.

pub(crate) use crate::profile::OfMonitor;

use crate::jvmti::jni::Jni;
use crate::session::Session;

/// `MonitorContendedEnter`: the thread wants a monitor that another owns; it does not wait yet.
pub(crate) fn contended_enter(session: &Session, jni: &Jni<'_>, of: &OfMonitor<'_, '_>) {
    if let Some(monitors) = &session.profiles.monitors {
        monitors.note_enter(&session.env, jni, of);
    }
}

/// `MonitorContendedEntered`: the thread owns the monitor. Others wait for it, so this one is short.
pub(crate) fn contended_entered(session: &Session, jni: &Jni<'_>, of: &OfMonitor<'_, '_>) {
    if let Some(monitors) = &session.profiles.monitors {
        monitors.note_entered(&session.env, jni, of);
    }
}

/// `MonitorWait`: the thread begins to wait to be notified, so long at most; 0 is for ever.
pub(crate) fn monitor_wait(
    session: &Session,
    jni: &Jni<'_>,
    of: &OfMonitor<'_, '_>,
    timeout_millis: u64,
) {
    if let Some(monitors) = &session.profiles.monitors {
        monitors.note_wait(&session.env, jni, of, timeout_millis);
    }
}

/// `MonitorWaited`: the thread was notified, or interrupted, or has waited long enough.
pub(crate) fn monitor_waited(session: &Session, jni: &Jni<'_>, of: &OfMonitor<'_, '_>) {
    if let Some(monitors) = &session.profiles.monitors {
        monitors.note_waited(&session.env, jni, of);
    }
}
