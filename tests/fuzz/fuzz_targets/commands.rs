//! Fuzzes the commands of `net=` with arbitrary bytes: each step makes progress and stays within
//! the input.
#![no_main]

use reader::command::{next, Next};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    while let Next::Command { bytes, .. } | Next::Bad { bytes, .. } = next(rest) {
        assert!(bytes > 0);
        rest = &rest[bytes..];
    }
});
