//! Profiles: what the application does between dumps. There is a folder for each measurement, and
//! one for each thing they share.
//!
//! [`allocations`] records allocations by site, sampled or complete. [`cpu`] samples running
//! threads. [`times`] adds up the costs of calls. [`monitors`] records waits for monitors.
//! [`injection`] inserts the calls into classes that exact allocations and times need. [`stacks`]
//! turns stacks into rows of traces, [`threads`] numbers threads. [`profiles`] combines them, and
//! [`report`] writes them.

mod allocations;
mod cpu;
mod injection;
mod monitors;
mod profiles;
mod report;
mod stacks;
mod threads;
mod times;

pub(crate) use allocations::{Allocations, LiveTraces, New};
pub(crate) use cpu::{cpu_samples_record, CpuCounts, CpuRow, CpuSamples};
pub(crate) use monitors::Monitors;
pub(crate) use profiles::Profiles;
pub(crate) use report::{report, Part};
pub(crate) use stacks::{NamedFrame, StackTraces};
pub(crate) use times::CpuTimes;
pub(crate) use writer::site_rows::{alloc_sites, ranked_traces, SiteRow};
