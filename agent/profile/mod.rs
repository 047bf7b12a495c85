//! Profiles: what the application does between dumps.
//!
//! [`allocations`] keeps allocations by site; [`live_samples`] knows which of the objects still live;
//! [`monitors`] keeps who waits for monitors, [`waits`] the calls of `Object.wait`, [`monitor_state`] asks who owns what;
//! [`stack_traces`] turns stacks into rows of traces, [`threads`] gives threads numbers; [`report`] writes all of it down.

mod allocations;
mod live_samples;
mod monitor_state;
mod monitors;
mod report;
mod report_binary;
mod report_monitors;
mod report_text;
mod site_rows;
mod stack_traces;
mod threads;
mod waits;

pub(crate) use allocations::{Allocation, Allocations, LiveTraces};
pub(crate) use monitors::{Monitors, OfMonitor};
pub(crate) use report::report;
pub(crate) use site_rows::{alloc_sites, ranked_traces, SiteRow};
pub(crate) use stack_traces::StackTraces;

use crate::jvmti::env::Env;
use crate::jvmti::jni::Jni;
use crate::jvmti::object::Object;
use std::sync::Arc;

/// What a session measures. Each part is there if the options ask for it.
#[derive(Debug)]
pub(crate) struct Profiles {
    /// The stacks that all parts name, and the threads.
    pub(crate) traces: Arc<StackTraces>,
    /// Who allocated what.
    pub(crate) allocations: Option<Allocations>,
    /// Who waits for monitors.
    pub(crate) monitors: Option<Monitors>,
}

impl Profiles {
    /// Whether there is nothing to report.
    pub(crate) fn is_empty(&self) -> bool {
        self.allocations.is_none() && self.monitors.is_none()
    }

    /// A thread ends, virtual or not; on that thread.
    pub(crate) fn note_thread_end(&self, env: &Env, jni: &Jni<'_>, thread: &Object<'_>) {
        if self.is_empty() {
            return;
        }
        let ended = self.traces.threads().note_end(env, thread);
        if let (Some(thread), Some(monitors)) = (ended, &self.monitors) {
            monitors.forget(jni, thread);
        }
    }
}
