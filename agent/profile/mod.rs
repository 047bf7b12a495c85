//! Profiles: what the application does between dumps.
//!
//! [`allocations`] keeps allocations by site; [`live_samples`] knows which of the objects still live;
//! [`stack_traces`] turns stacks into rows of traces, [`threads`] gives threads numbers; [`report`] writes all of it down.

mod allocations;
mod live_samples;
mod report;
mod report_binary;
mod report_text;
mod site_rows;
mod stack_traces;
mod threads;

pub(crate) use allocations::{Allocation, Allocations, LiveTraces};
pub(crate) use report::report;
pub(crate) use site_rows::{alloc_sites, ranked_traces, SiteRow};
pub(crate) use stack_traces::StackTraces;

use std::sync::Arc;

/// What a session measures. Each part is there if the options ask for it.
#[derive(Debug)]
pub(crate) struct Profiles {
    /// The stacks that all parts name, and the threads.
    pub(crate) traces: Arc<StackTraces>,
    /// Who allocated what.
    pub(crate) allocations: Option<Allocations>,
}

impl Profiles {
    /// Whether there is nothing to report.
    pub(crate) fn is_empty(&self) -> bool {
        self.allocations.is_none()
    }
}
