//! Whole files: one program of tests, so that it is linked once.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod contents;
mod hostile;
mod profiles;
mod redact;
mod segments;
mod trial;
