//! Samples of running threads, taken by signals: a timer for each thread, the signal handler, and
//! the ring that it writes to.
//!
//! Behind the fence, because a handler works on the code that it has interrupted.

mod machine_registers;
mod sample_ring;
mod stack_sampler;
mod thread_timers;

pub use sample_ring::RawSample;
pub use stack_sampler::{spare_this_thread, StackSampler};
