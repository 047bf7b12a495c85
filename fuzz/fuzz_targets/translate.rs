//! Fuzzes the translation of HotSpot's own dump with arbitrary files: each ends in an error without
//! a file, or in a complete dump.
#![no_main]

use reader::{summarize, DumpReader};
use std::io::Read;
use tables::{ObjectTable, Tables, TraceId};
use translation::{translate, Knowledge, Known, Settings, Surroundings, ThreadNames};
use writer::{DumpFile, Target};

/// Bytes of a reference that may lead to a known object.
const REFERENCE_BYTES: usize = 8;

struct InMemory<'b>(&'b [u8]);

impl Surroundings for InMemory<'_> {
    fn open(&self) -> Box<dyn Read + '_> {
        Box::new(self.0)
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // The other inputs are appended to the file, so that any dump is a seed.
    let Some((bytes, reference)) = bytes.split_last_chunk::<REFERENCE_BYTES>() else {
        return;
    };
    let Some((&wishes, bytes)) = bytes.split_last() else {
        return;
    };
    let Ok(folder) = tempfile::tempdir() else {
        return;
    };
    let path = folder.path().join("a.hprof");
    let Ok(file) = DumpFile::create(&Target::new(&path)) else {
        return;
    };
    let known = match wishes >> 4 & 3 {
        0 => Known::Agents,
        1 => Known::OwnThread,
        2 => Known::Thread(ThreadNames::default()),
        _ => Known::Allocated(TraceId::EMPTY),
    };
    let knowledge = Knowledge {
        tables: &Tables::new(),
        objects: &mut ObjectTable::new(),
        known: &[(u64::from_be_bytes(*reference), known)].into(),
        site_records: &[],
    };
    let settings = Settings {
        primitive_fields: wishes & 1 == 0,
        primitive_arrays: wishes & 2 == 0,
        line_numbers: wishes & 4 == 0,
        depth_frames: (wishes & 8 == 0).then_some(1),
        threads: 1,
    };
    let made = translate(&InMemory(bytes), knowledge, &settings, file);
    let Ok(made) = made else {
        assert!(!path.exists());
        return;
    };
    let written = std::fs::read(&path).expect("the file");
    assert_eq!(written.len() as u64, made.written.bytes);
    let mut dump = DumpReader::new(Box::new(written.as_slice())).expect("a dump");
    let summary = summarize(&mut dump).expect("a summary");
    assert!(summary.damage.is_empty(), "{:?}", summary.damage);
});
