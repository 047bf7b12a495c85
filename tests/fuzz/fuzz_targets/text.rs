//! Fuzzes `hprof convert --to text` with arbitrary files.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let settings = text::Settings {
        sizes: None,
        utc_offset_seconds: 0,
        budget: reader::Budget::new(64 << 20),
    };
    // Returns text or an error, and terminates.
    let _ = text::transcribe(
        &mut || reader::unpacked(bytes),
        &settings,
        &mut std::io::sink(),
    );
});
