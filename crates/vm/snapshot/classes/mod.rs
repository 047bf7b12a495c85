//! The classes of a snapshot: the layout of their instances, their mirrors and their static fields.

mod class_dumps;
mod class_facts;
mod class_map;
mod class_sizes;
mod mirror_fields;
mod thread_names;

pub use class_dumps::{ClassDumps, ClassReferences};
pub use class_facts::{ClassFacts, FieldId, ResolvedReferences, Slot};
pub use class_map::{Class, ClassMap, Deciding, Descriptions, Shape};
pub use class_sizes::SizePlaces;
pub use mirror_fields::{MirrorFields, MirrorReferences, Names, Role};
pub use thread_names::NameFields;
