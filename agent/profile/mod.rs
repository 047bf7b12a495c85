//! Profiles: what the application does between dumps.
//!
//! [`allocations`] samples allocations and keeps them by site; [`live_samples`] knows which of the samples still live;
//! [`stack_traces`] turns stacks into rows of traces; [`report`] writes the sites down.

mod allocations;
mod live_samples;
mod report;
mod stack_traces;

pub(crate) use allocations::{Allocation, Allocations, LiveTraces, SiteRow};
pub(crate) use report::{alloc_sites, ranked_traces, report};
