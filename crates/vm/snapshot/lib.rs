//! Reads and encodes the heap of a forked copy of a HotSpot JVM, in which nothing changes.
//!
//! Nothing here uses JNI or JVMTI. The facts that they report about classes before the fork arrive
//! as plain numbers.
//!
//! 1. [`layout`] finds HotSpot's object layout, using objects with known contents.
//! 2. [`classes`] uses that layout to describe each class for the file.
//! 3. [`walk`] marks every reachable object, on several threads.
//! 4. [`encode`] encodes every marked object as a record, with the wanted [`Values`].
//!
//! All threads share the [`Snapshot`]. They read [`memory`], and check [`mappings`] to see what is
//! mapped. [`Failure`] is the reason why there is no dump.
//!
//! Only `memory`, `walk/marks` and `encode/room` have unsafe code.

pub mod classes;
pub mod encode;
mod failure;
#[cfg(any(test, feature = "invented"))]
mod invented;
pub mod layout;
pub mod mappings;
pub mod memory;
mod snapshot;
mod values;
pub mod walk;

pub use failure::Failure;
pub use snapshot::{Rest, Snapshot};
pub use values::Values;
