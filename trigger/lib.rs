//! Decides when a dump is made, and which dumps are kept, without a JVM, a clock or a disk.
//!
//! [`conditions`] parses the user's conditions. A [`Watcher`] evaluates [`Reading`]s and returns
//! the [`Cause`] of a dump that is due. [`surplus`] chooses the files to remove. A [`Sample`] lists
//! the largest classes of a heap.
#![forbid(unsafe_code)]

mod condition;
mod growth;
mod sample;
mod surplus;
mod watcher;

pub use condition::{bytes, conditions, duration, Condition};
pub use sample::{Sample, Taken};
pub use surplus::{surplus, Kept};
pub use watcher::{Cause, HeapUse, Limits, Reading, ResidentUse, Watcher};
