//! Encodes every marked object as a record of the file, or counts it.

mod allocated;
mod class_counter;
mod encoder;
mod field_copy;
mod graph_encoder;
mod groups;
mod large_arrays;
mod room;

pub use class_counter::{ClassCount, ClassCounter};
pub use encoder::{Encoded, Encoder, Parts};
pub use field_copy::FieldCopy;
pub use graph_encoder::{GraphEncoder, SizeFacts};
pub use large_arrays::LargeArrays;
