//! Profiles: what the application does between dumps.
//!
//! [`allocations`] keeps allocations by site; [`live_samples`] knows which of the objects still live;
//! [`cpu_samples`] samples the threads that run, [`cpu_lists`] where there are no signals for it, and [`cpu_counts`] has what
//! came of it; [`stack_traces`] turns stacks into rows of traces, [`threads`] gives threads numbers; [`report`] writes all of it down.

mod allocations;
mod cpu_counts;
mod cpu_lists;
mod cpu_samples;
mod live_samples;
mod report;
mod report_binary;
mod report_text;
mod site_rows;
mod stack_traces;
mod threads;

pub(crate) use allocations::{Allocation, Allocations, LiveTraces};
pub(crate) use cpu_counts::{cpu_samples_record, CpuCounts, CpuRow};
pub(crate) use cpu_samples::CpuSamples;
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
    /// Who used the processor.
    pub(crate) cpu: Option<CpuSamples>,
}

impl Profiles {
    /// Whether there is nothing to report.
    pub(crate) fn is_empty(&self) -> bool {
        self.allocations.is_none() && self.cpu.is_none()
    }
}
