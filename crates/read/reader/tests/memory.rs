//! The budget: tables count about as much memory as they take, whatever kind of record a file
//! repeats.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test fails by panicking"
)]

use std::io::Read;

use reader::{check, summarize, Budget, CheckOptions, DumpReader, Profiles, ReadError};
use sample::*;

/// Records of one kind in a file; enough that spare capacity of a table does not matter.
const MANY: u32 = 1 << 10;

/// Adds one more record of a kind to the file.
type Add = fn(&mut Dump, u32);

/// Puts a record before the heap.
fn put(sample: &mut Dump, record: Record) {
    let place = sample.records.len() - 3;
    sample.records.insert(place, record);
}

fn a_string(sample: &mut Dump, number: u32) {
    let text = format!("a text that is long enough to matter {number:012}");
    put(sample, string(1000 + u64::from(number), text.as_bytes()));
}

fn a_class(sample: &mut Dump, number: u32) {
    put(
        sample,
        load_class(100 + number, 0x10_0000 + 8 * u64::from(number), 1),
    );
}

fn a_frame(sample: &mut Dump, number: u32) {
    put(sample, frame(1000 + u64::from(number), 1, 1, 1, 1, 7));
}

fn a_trace(sample: &mut Dump, number: u32) {
    put(sample, trace(100 + number, 1, &[1, 2, 3]));
}

fn a_thread(sample: &mut Dump, number: u32) {
    sample.heap(0).push(thread_root(MAIN, 100 + number, 2));
}

fn an_object(sample: &mut Dump, number: u32) {
    let id = 0x4000_0000 + (u64::from(number) << 32);
    sample.heap(1).push(primitive_array(id, BOOLEAN, 0, &[]));
}

fn file_with(many: u32, add: Add) -> Vec<u8> {
    let mut sample = Dump::small();
    (0..many).for_each(|number| add(&mut sample, number));
    sample.bytes()
}

/// The smallest budget with which a file can be read.
fn least_bytes(read: impl Fn(Budget) -> Result<(), ReadError>) -> u64 {
    let (mut too_small, mut enough) = (0, 1 << 22);
    assert!(read(Budget::new(enough)).is_ok());
    while too_small + 1 < enough {
        let middle = too_small.midpoint(enough);
        match read(Budget::new(middle)) {
            Ok(()) => enough = middle,
            Err(ReadError::TooMuch { .. }) => too_small = middle,
            Err(other) => panic!("{other:?}"),
        }
    }
    enough
}

fn by_check(file: &[u8], budget: Budget) -> Result<(), ReadError> {
    let mut open = || Ok(Box::new(file) as Box<dyn Read>);
    let options = CheckOptions {
        most: 1,
        strict: false,
        budget,
    };
    check(&mut open, options).map(drop)
}

fn by_summary(file: &[u8], budget: Budget) -> Result<(), ReadError> {
    let mut reader = DumpReader::new(Box::new(file))?.with_budget(budget);
    summarize(&mut reader).map(drop)
}

fn by_profile(file: &[u8], budget: Budget) -> Result<(), ReadError> {
    Profiles::read(Box::new(file), budget).map(drop)
}

/// Bytes of the budget that each record of a kind takes.
fn cost_bytes(read: fn(&[u8], Budget) -> Result<(), ReadError>, add: Add) -> u64 {
    let least = [MANY, 2 * MANY].map(|many| {
        let file = file_with(many, add);
        least_bytes(|budget| read(&file, budget))
    });
    (least[1] - least[0]) / u64::from(MANY)
}

#[test]
fn each_kind_is_counted_for_what_it_costs() {
    // For check, info, and the profiles: bytes of a table's entry, and of a text.
    let costs: [(&str, Add, [u64; 3]); 6] = [
        ("strings", a_string, [113, 113, 113]),
        ("classes", a_class, [188, 248, 248]),
        ("frames", a_frame, [2, 160, 160]),
        ("traces", a_trace, [131, 176, 176]),
        ("threads", a_thread, [66, 128, 0]),
        ("objects", an_object, [136, 0, 0]),
    ];
    for (kind, add, expected) in costs {
        let found = [by_check, by_summary, by_profile].map(|read| cost_bytes(read, add));
        assert_eq!(found, expected, "{kind}");
    }
}
