//! What to dump, where to, and in which ways.

use super::facts::allocation_traces::Profiled;
use crate::jvmti::env::Vm;
use crate::options::{Engine, Options, SnapshotBy};
use std::time::{SystemTime, UNIX_EPOCH};
use writer::Outlet;

/// What to dump, and where to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'r> {
    pub(super) vm: Vm,
    pub(super) options: &'r Options,
    pub(super) outlet: &'r Outlet,
    pub(super) profiled: Profiled<'r>,
}

/// A way to dump a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Reads a forked copy.
    Fork,
    /// JVMTI reports the heap during the pause; addresses identify objects.
    Pause,
    /// JVMTI reports the heap during the pause; tags identify objects.
    Tags,
}

impl Way {
    /// The ways that the options allow, the best first.
    pub(super) fn all(options: &Options) -> &'static [Self] {
        match (options.engine, options.snapshot) {
            (Engine::Auto, SnapshotBy::Auto) => &[Way::Fork, Way::Pause, Way::Tags],
            (Engine::Auto, SnapshotBy::Fork) => &[Way::Fork, Way::Tags],
            (Engine::Auto, SnapshotBy::Pause) => &[Way::Pause, Way::Tags],
            (Engine::Snapshot, SnapshotBy::Auto) => &[Way::Fork, Way::Pause],
            (Engine::Snapshot, SnapshotBy::Fork) => &[Way::Fork],
            (Engine::Snapshot, SnapshotBy::Pause) => &[Way::Pause],
            (Engine::Portable, _) => &[Way::Tags],
        }
    }
}

pub(super) fn millis_since_epoch() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since_epoch.unwrap_or_default().as_millis()).unwrap_or(0)
}
