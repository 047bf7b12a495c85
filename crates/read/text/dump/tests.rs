//! Whole dumps as text: a golden, every kind of record, and truncated files.

use super::*;
use proptest::prelude::*;
use reader::Budget;
use sample::{bytes, record, Dump};
use std::fs;
use std::io::Read;
use std::path::Path;

/// The sample with the name of a thread, an allocation site, and a class that refers to all it can.
fn sample() -> Dump {
    let mut dump = Dump::small();
    let (name, group) = (9_001, 9_002);
    let start = bytes().u4(2).u8(sample::WORKER).u4(1);
    let totals = bytes().u2(0).u4(0).u4(24).u4(1).u8(48).u8(1);
    let site = totals.u4(1).u1(8).u4(0).u4(4).u4(24).u4(1).u4(48).u4(1);
    let mut leaf = dump.leaf();
    leaf.slots = [sample::MAIN, sample::ARRAY, sample::NAME];
    dump.replace_class(&leaf);
    let at = dump.at(0x1C, 0);
    dump.records.splice(
        at..at,
        [
            sample::string(name, b"say \"hi\""),
            sample::string(group, b"main"),
            record(0x0A, start.u8(name).u8(group).u8(0)),
            record(0x06, site),
        ],
    );
    dump
}

/// Greenwich, and the usual sizes.
const SETTINGS: Settings = Settings {
    sizes: None,
    utc_offset_seconds: 0,
    budget: Budget::new(1 << 20),
};

fn opened<'f>(file: &'f [u8]) -> impl FnMut() -> io::Result<Box<dyn Read + 'f>> {
    move || Ok(Box::new(file) as Box<dyn Read + 'f>)
}

/// The text of a complete file.
fn text(file: &[u8]) -> String {
    text_at(0, file)
}

fn text_at(utc_offset_seconds: i32, file: &[u8]) -> String {
    let mut text = Vec::new();
    let settings = Settings {
        utc_offset_seconds,
        ..SETTINGS
    };
    let told = transcribe(&mut opened(file), &settings, &mut text).unwrap();
    assert_eq!((told.damaged, told.is_ended), (0, true));
    String::from_utf8(text).unwrap()
}

/// `BLESS=1 cargo test -p hprof-text --lib dump` rewrites the golden; review the difference.
#[test]
fn a_dump_is_what_a_person_expects_to_read() {
    let text = text(&sample().bytes());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/transcribed_heap_dump.txt");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(&path).unwrap());
}

#[test]
fn the_first_line_counts_the_others() {
    let text = text(&sample().bytes());
    let lines = |start: &str| {
        let start = start.to_owned();
        text.lines().filter(move |line| line.starts_with(&start))
    };
    let count = ["OBJ ", "ARR ", "CLS "].map(|start| lines(start).count());
    assert_eq!(count, [5, 3, 18]);
    let size = |line: &str| -> u64 {
        let (_, rest) = line.split_once("(sz=").unwrap();
        rest.split_once(',').unwrap().0.parse().unwrap()
    };
    let bytes: u64 = lines("OBJ ").chain(lines("ARR ")).map(size).sum();
    let first = format!("HEAP DUMP BEGIN (26 objects, {bytes} bytes) ");
    assert_eq!(lines(&first).count(), 1, "{text}");
}

#[test]
fn dates_are_those_of_local_time() {
    // The sample is of Tue Nov 14 22:13:20 2023, UTC.
    let [there, here] = [0, 19_800].map(|offset| text_at(offset, &sample().bytes()));
    assert!(here.starts_with("JAVA PROFILE 1.0.1, created Wed Nov 15 03:43:20 2023\n"));
    assert!(here.contains(" bytes) Wed Nov 15 03:43:20 2023\n"));
    // Nothing else is different.
    assert_eq!(
        there.replace("Tue Nov 14 22:13:20", "Wed Nov 15 03:43:20"),
        here
    );
}

#[test]
fn the_order_of_the_records_is_not_the_order_of_the_lines() {
    let mut turned = sample();
    let at = turned.at(0x1C, 0);
    turned.records.swap(at, at + 1);
    assert_eq!(text(&turned.bytes()), text(&sample().bytes()));
}

#[test]
fn the_targets_error_is_told() {
    let file = sample().bytes();
    let mut full: &mut [u8] = &mut [0; 100];
    let told = transcribe(&mut opened(&file), &SETTINGS, &mut full);
    assert!(matches!(told, Err(TextError::Write(_))));
}

#[test]
fn a_file_cut_anywhere_is_not_whole() {
    let file = sample().bytes();
    for length in 0..file.len() {
        let told = transcribe(&mut opened(&file[..length]), &SETTINGS, &mut Vec::new());
        let is_whole = told.is_ok_and(|told| told.damaged == 0 && told.is_ended);
        assert!(!is_whole, "{length}");
    }
}

proptest! {
    #[test]
    fn no_byte_that_a_disk_forgot_is_a_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut file = sample().bytes();
        for (place, byte) in changes {
            let length = file.len();
            file[place.index(length)] = byte;
        }
        // Returns text or an error, and terminates.
        let _ = transcribe(&mut opened(&file), &SETTINGS, &mut Vec::new());
    }
}
