//! A Java heap that stands still: reads and encodes the heap of a forked copy of a HotSpot JVM.
//!
//! Nothing here uses JNI or JVMTI. What the JVM said about its classes before the fork arrives as plain numbers.
//!
//! 1. [`layout`] finds HotSpot's object layout, using objects with known contents.
//! 2. [`classes`] uses that layout to find what each class means to the file.
//! 3. [`walk`] marks every reachable object, on several threads.
//! 4. [`encode`] turns every marked object into a record, with the [`Values`] that are wanted.
//!
//! All threads share the [`Snapshot`]. They read [`memory`], and check [`mappings`] to see what is mapped. [`Failure`]
//! says why there is no dump.
//!
//! Only `memory`, `walk/marks` and `encode/room` have unsafe code.

pub mod classes;
pub mod encode;
mod failure;
pub mod layout;
pub mod mappings;
pub mod memory;
mod snapshot;
mod values;
pub mod walk;

pub use failure::Failure;
pub use snapshot::Snapshot;
pub use values::Values;
