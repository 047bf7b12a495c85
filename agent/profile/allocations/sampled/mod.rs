//! Samples of allocations: which are taken, where they were made, and which of their objects still
//! live.

pub(crate) mod live_samples;
pub(crate) mod sample_budget;
pub(crate) mod sample_interval;
