//! The costs and findings of the attempts at one dump.

use super::stop_bound::dumper_estimate;
use hotspot::escape_barrier::LongBarrier;
use std::cell::{Cell, RefCell};
use std::time::Duration;

/// HotSpot's name for the map of a compiled frame.
pub(super) const OOP_MAP: &str = "ImmutableOopMap";

/// The costs and findings of the attempts at one dump.
#[derive(Debug, Default)]
pub(super) struct Tried {
    /// Total time that the application was paused.
    pub(super) paused: Cell<Duration>,
    /// Bytes of heap in use; `None` if the JVM does not report them, or was not asked.
    pub(super) used_bytes: Cell<Option<u64>>,
    /// The number of known classes at the last attempt's fork.
    pub(super) classes: Cell<usize>,
    /// Whether the last attempt's child lacked the parts of the heap that HotSpot reports as
    /// unused.
    pub(super) has_left_out: Cell<bool>,
    /// Whether an attempt did not find the filter of HotSpot's walk, so that the walk must make
    /// replaced objects again.
    pub(super) needs_barrier: Cell<bool>,
    /// The part of compiled frames' oop maps that is missing or unexplained, so that the agent does
    /// not read them.
    pub(super) no_oop_maps: Cell<Option<&'static str>>,
    /// Whether there was an attempt, which may have had an image.
    pub(super) had_image: Cell<bool>,
    /// How the heap was copied if not by the fork, for the summary line.
    pub(super) copied_by: RefCell<String>,
    /// The barrier that the last attempt's walk did without; `None` if it did not.
    pub(super) long_barrier: Cell<Option<LongBarrier>>,
}

impl Tried {
    /// How long HotSpot's dumper would stop the application at most; `None` if that is unknown.
    pub(super) fn stop_estimate(&self) -> Option<Duration> {
        self.used_bytes.get().map(dumper_estimate)
    }
}
