//! Fuzzes the names of native functions with arbitrary libraries and arbitrary symbols.
#![no_main]

use std::io::Cursor;
use symbols::{function_name, LibrarySymbols};

/// Memory for the symbols of one library.
const MOST_BYTES: u64 = 1 << 20;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assert!(!function_name(bytes).contains('.'));
    let Some(symbols) = LibrarySymbols::parse(Cursor::new(bytes), MOST_BYTES) else {
        return;
    };
    // Functions and names as they are stored: at most twice the size in the file.
    assert!(symbols.bytes() <= 2 * MOST_BYTES);
    for offset in (0..bytes.len() as u64).step_by(16).take(1 << 12) {
        if let Some(name) = symbols.function_at(offset) {
            assert!(!name.is_empty() && !name.contains(&0));
        }
    }
});
