//! Samples of running threads, by signals: a timer for each thread, the signal's handler, and the ring that it writes to.
//!
//! Behind the fence, as a handler works on what it has interrupted.
#![allow(unsafe_code)]

mod sample_ring;
mod stack_sampler;
mod thread_timers;

pub(crate) use sample_ring::RawSample;
pub(crate) use stack_sampler::{spare_this_thread, StackSampler};
