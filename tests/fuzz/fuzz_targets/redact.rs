//! Fuzzes `hprof convert --redact` with arbitrary files: the result is a copy of the same length or
//! an error, and the copy contains no text except names.
#![no_main]

use format::redaction::{FieldPatterns, Redacted, Redaction};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else {
        return;
    };
    let words = ["strings", "arrays", "values", "all"];
    let some = |bit: u8| match kind & bit {
        0 => FieldPatterns::default(),
        _ => FieldPatterns::parse("*a*#*;java.lang.String#value").unwrap(),
    };
    let redaction = Redaction {
        what: Redacted::parse(words[usize::from(kind & 3)]).unwrap(),
        keep: some(4),
        drop: some(8),
    };
    let budget = reader::Budget::new(64 << 20);
    let mut out = Vec::new();
    if reader::redact(
        &mut || reader::unpacked(bytes),
        &redaction,
        budget,
        &mut out,
    )
    .is_ok()
    {
        let mut input = Vec::new();
        let whole = reader::unpacked(bytes)
            .and_then(|mut it| std::io::Read::read_to_end(&mut it, &mut input));
        assert!(whole.is_err() || input.len() == out.len());
    }
});
