//! A Java heap that stands still: what a forked copy of a HotSpot JVM is read and encoded by.
//!
//! Nothing here knows JNI or JVMTI; what the JVM said of its classes before comes as plain numbers.
//!
//! 1. [`layout`] finds out how HotSpot lays objects out, from objects whose contents are known.
//! 2. [`classes`] tells by that layout what each class means to the file.
//! 3. [`walk`] marks every object that can be reached, over as many threads as there are.
//! 4. [`encode`] turns every marked object into a record.
//!
//! [`Snapshot`] is what all threads share, [`memory`] what they read, [`mappings`] where something is mapped, and [`Failure`] why
//! there is no dump.
//!
//! Unsafe code is in `memory`, `walk/marks` and `encode/room` alone.

pub mod classes;
pub mod encode;
mod failure;
pub mod layout;
pub mod mappings;
pub mod memory;
mod snapshot;
pub mod walk;

pub use failure::Failure;
pub use snapshot::Snapshot;
