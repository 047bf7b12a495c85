//! The command, as a user runs it: one program of tests, so that it is linked once.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod classes;
mod command;
mod convert;
mod diff;
mod every_command;
mod export;
mod graph;
mod hostile;
mod mcp;
mod pprof;
mod profiles;
mod redact;
mod report;
mod run;
mod several_dumps;
mod signals;
mod text;
mod view;
