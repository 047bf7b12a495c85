//! Dumps for tests, made in a few lines.
//!
//! [`Dump`] is a heap: its classes, objects and roots, with ids of 4 or 8 bytes, and a list of
//! records that a test may change. [`Dump::small`] is a valid one to break. It pushes bytes, and
//! shares no code with the writer and the readers that it judges.
#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test fails by panicking"
)]

mod dump;
mod record;
mod small;
mod sub_record;
pub mod wasteful;

pub use dump::{file_of, Dump};
pub use record::{
    bytes, end, frame, load_class, record, segment, string, trace, Body, Bytes, Record,
};
pub use small::*;
pub use sub_record::*;
