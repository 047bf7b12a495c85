//! Profiles: what the application does between dumps. A folder each for what is measured, and for what they share.
//!
//! [`allocations`] keeps allocations by site, sampled or all of them. [`cpu`] samples the threads that run. [`times`] adds up what calls
//! cost. [`monitors`] keeps who waits for monitors. [`injection`] puts the calls into classes that exact allocations and times live on.
//! [`stacks`] turns stacks into rows of traces, [`threads`] gives threads numbers, [`native`] names
//! native code. [`profiles`] is all of it, and [`report`] writes it
//! down.

mod allocations;
mod cpu;
mod injection;
mod monitors;
mod native;
mod profiles;
mod report;
mod stacks;
mod threads;
mod times;

pub(crate) use allocations::site_rows::{alloc_sites, ranked_traces, SiteRow};
pub(crate) use allocations::{Allocations, LiveTraces, New};
pub(crate) use cpu::{cpu_samples_record, CpuCounts, CpuRow, CpuSamples};
pub(crate) use monitors::Monitors;
pub(crate) use profiles::Profiles;
pub(crate) use report::{report, Part};
pub(crate) use stacks::{NamedFrame, StackTraces};
pub(crate) use times::CpuTimes;
