//! Dumps for tests, made in a few lines.
//!
//! [`Dump`] is a heap: its classes, objects and roots, with ids of 4 or 8 bytes. [`Sample`] is a
//! small valid dump whose records a test changes. Both push bytes, and share no code with the
//! writer and the readers that they judge.
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
