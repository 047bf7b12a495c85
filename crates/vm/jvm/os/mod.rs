//! What the agent asks the operating system and `std` does not provide. Independent of the JVM.

pub mod answers;
pub mod careful_reads;
pub mod children;
pub mod command;
pub mod cpu_clock;
pub mod descriptor;
pub mod fork_handlers;
pub mod host;
pub mod image;
pub mod map_reserve;
mod memory_file;
pub mod others_time;
pub mod own_library;
pub mod owner;
pub mod process_end;
pub mod room;
pub mod seccomp;
pub mod semaphore;
#[cfg(test)]
mod tests;
pub mod threads;
pub mod tracked_image;
pub mod written_pages;
