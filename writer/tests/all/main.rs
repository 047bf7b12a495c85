//! Whole dumps: one program of tests, so that it is linked once.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod dump_file;
mod golden;
mod real_records;
mod tail;
