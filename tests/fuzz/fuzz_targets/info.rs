//! Fuzzes the summary of `hprof check`, and `hprof histo`, with arbitrary files.
#![no_main]

#[path = "../../../crates/read/reader/tests/all/trial/mod.rs"]
mod trial;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| trial::try_info(bytes));
