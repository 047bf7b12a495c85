//! When a dump is made, and which dumps are kept: decisions alone, without a JVM, a clock or a disk.
//!
//! [`conditions`] parses what the user wrote. A [`Watcher`] takes [`Reading`]s and tells the [`Cause`] of a dump that is
//! due. [`surplus`] chooses the files that are too many. A [`Sample`] tells what the classes of a heap have.
#![forbid(unsafe_code)]

mod condition;
mod growth;
mod sample;
mod surplus;
mod watcher;

pub use condition::{bytes, conditions, duration, Condition};
pub use sample::{Counted, Sample, Taken};
pub use surplus::{surplus, Kept, Most};
pub use watcher::{Cause, HeapUse, Limits, Reading, ResidentUse, Watcher};
