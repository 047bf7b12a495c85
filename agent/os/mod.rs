//! What the agent asks of the operating system and `std` does not tell. Knows neither the JVM nor the rest of the agent.
#![allow(unsafe_code)]

pub(crate) mod cpu_clock;
pub(crate) mod host;
pub(crate) mod process_end;
pub(crate) mod semaphore;
pub(crate) mod threads;
