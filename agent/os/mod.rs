//! What the agent asks the operating system and `std` does not provide. Independent of the JVM and of the rest of the
//! agent.
#![allow(unsafe_code)]

pub(crate) mod children;
pub(crate) mod command;
pub(crate) mod cpu_clock;
pub(crate) mod descriptor;
pub(crate) mod disk;
pub(crate) mod host;
pub(crate) mod huge_pages;
pub(crate) mod map_reserve;
pub(crate) mod own_library;
pub(crate) mod owner;
pub(crate) mod process_end;
pub(crate) mod room;
pub(crate) mod semaphore;
pub(crate) mod threads;
