//! Garbage collections on demand (JVMTI, "Heap").

use super::env::{call, Env};
use super::error::JvmtiError;

impl Env {
    /// Runs a full garbage collection before it returns (`ForceGarbageCollection`). Live phase
    /// only.
    ///
    /// The same as `System.gc()`, so the collector's switches may make it do less.
    pub fn force_garbage_collection(&self) -> Result<(), JvmtiError> {
        // SAFETY: the function takes nothing but the environment.
        unsafe { call!(self, FORCE_GARBAGE_COLLECTION()) }
    }
}
