//! JVMTI's walk over the heap, inside the pause: objects are known again by tags, or by addresses where HotSpot tells them.
//!
//! [`walk_dump`] leads. [`visitor`] receives references and values on the VM thread, [`identity`] knows objects again, [`shape`] holds the
//! object that is being put together, [`class_values`] what classes hold, [`late`] the instances of classes that the catalogue did not
//! know, [`class_records`] writes the classes; [`progress`] tells the user how far it is.

mod class_records;
mod class_values;
mod identity;
mod late;
mod progress;
mod shape;
mod visitor;
mod walk_dump;

pub(super) use walk_dump::walk_and_write;
