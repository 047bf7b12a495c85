//! Samples of allocations (JVMTI, "Heap": `SetHeapSamplingInterval`; event "Sampled Object
//! Allocation").

use super::env::{call, Env};
use super::error::JvmtiError;

impl Env {
    /// Makes the JVM sample one object for every `interval_bytes` bytes allocated, on average, in
    /// the whole JVM; 0 samples every allocation.
    ///
    /// From JDK 11 on, with the capability. A thread uses the new interval after the sample that it
    /// is waiting for.
    pub fn sample_allocations(&self, interval_bytes: i32) -> Result<(), JvmtiError> {
        // SAFETY: types as in jvmti.h.
        unsafe { call!(self, SET_HEAP_SAMPLING_INTERVAL(interval_bytes)) }
    }
}
