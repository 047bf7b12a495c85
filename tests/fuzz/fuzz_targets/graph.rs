//! Fuzzes `hprof leaks`, `hprof histo --retained` and `hprof show` with arbitrary files.
#![no_main]

#[path = "../../../crates/read/graph/tests/all/trial/mod.rs"]
mod trial;

use std::io::{Seek, SeekFrom, Write};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let file = tempfile::tempfile().and_then(|mut file| {
        file.write_all(bytes)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(file)
    });
    // Errors are valid answers; a full disk is not a finding.
    if let Ok(file) = file {
        let _ = trial::analyse(file);
    }
});
