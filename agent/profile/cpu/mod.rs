//! CPU samples: which threads run, and their stacks.

pub(crate) mod cpu_counts;
mod cpu_samples;

pub(crate) use cpu_counts::{cpu_samples_record, CpuCounts, CpuRow};
pub(crate) use cpu_samples::CpuSamples;
