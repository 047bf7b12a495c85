//! Encode: turns every marked object into a record of the file.

mod allocated;
mod encoder;
mod field_copy;
mod graph_encoder;
mod groups;
mod large_arrays;
mod room;

pub use encoder::{Encoded, Encoder, Parts};
pub use field_copy::FieldCopy;
pub use graph_encoder::{GraphEncoder, SizeFacts};
pub use large_arrays::LargeArrays;
