//! The portable engine: `FollowReferences` with tags, and nothing that the JVMTI specification does not promise.
//!
//! The whole walk happens inside the pause, on the VM thread: [`walk`] receives references and values,
//! [`identity`] knows them
//! again, [`shape`] holds the object that is being put together, [`class_values`] what classes hold, [`late`] the
//! instances of classes that the catalogue did not know; [`progress`] tells the user how far it is.

mod class_values;
mod identity;
mod late;
mod progress;
mod shape;
mod walk;

pub(super) use class_values::{ClassValues, StaticValue};
pub(super) use identity::Identity;
pub(super) use walk::{Walk, Walked};
