//! Profiles: what the application does between dumps.
//!
//! [`allocations`] keeps allocations by site, [`exact_allocations`] each of them; [`sample_budget`] says which samples are taken,
//! [`sampled_places`] finds the site of one, [`live_samples`] knows which of the objects still live; [`stack_addresses`] says
//! whether a stack's addresses may stand for it. [`cpu_times`] adds up the [`call_contexts`] of threads. [`injection`] puts the
//! calls into classes that exact allocations and CPU times live on. [`cpu_samples`] samples the threads that run, [`cpu_lists`] where there are no signals for it,
//! and [`cpu_counts`] has what came of it; [`native`] names the native code they met. [`monitors`] keeps who waits for monitors, [`waits`] the calls of `Object.wait`,
//! [`monitor_state`] asks who owns what. [`stack_traces`] turns stacks into rows of traces, [`threads`] gives threads
//! numbers; [`profiles`] is all of it, and [`report`] writes it down.

mod allocation_places;
mod allocations;
mod array_sizes;
mod call_contexts;
mod call_rows;
mod chance;
mod cpu_counts;
mod cpu_lists;
mod cpu_samples;
mod cpu_times;
mod exact_allocations;
mod injection;
mod known_classes;
mod live_objects;
mod live_samples;
mod monitor_state;
mod monitors;
mod native;
mod profiles;
mod recent_places;
mod report;
mod report_binary;
mod report_monitors;
mod report_text;
mod sample_budget;
mod sample_interval;
mod sampled_places;
mod site_rows;
mod stack_addresses;
mod stack_traces;
mod thread_tally;
mod threads;
mod unmounted;
mod waits;

pub(crate) use allocations::{Allocations, LiveTraces};
pub(crate) use cpu_counts::{cpu_samples_record, CpuCounts, CpuRow};
pub(crate) use cpu_samples::CpuSamples;
pub(crate) use cpu_times::CpuTimes;
pub(crate) use exact_allocations::New;
pub(crate) use monitors::Monitors;
pub(crate) use profiles::Profiles;
pub(crate) use report::{report, Part};
pub(crate) use site_rows::{alloc_sites, ranked_traces, SiteRow};
pub(crate) use stack_traces::{NamedFrame, StackTraces};
