//! Files made to break a reader: no panic, no overflow, no end of time, whatever the bytes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test fails by panicking"
)]

mod sample;
mod trial;

use proptest::prelude::*;
use sample::{bytes, instance, object_array, primitive_array, record, ClassDump, Sample};
use trial::{try_check, try_info};

/// Numbers that break sums and counts.
const ODD: [u32; 6] = [0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFF0, u32::MAX];

fn try_all(dump: &[u8]) {
    try_check(dump);
    try_info(dump);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn arbitrary_bytes_behind_a_header(id_bytes in prop_oneof![Just(4_u8), Just(8)], body in prop::collection::vec(any::<u8>(), 0..600)) {
        let mut dump = b"JAVA PROFILE 1.0.2\0\0\0\0".to_vec();
        dump.push(id_bytes);
        dump.extend([0; 8]);
        dump.extend(body);
        try_all(&dump);
    }

    #[test]
    fn arbitrary_bytes(dump in prop::collection::vec(any::<u8>(), 0..200)) {
        try_all(&dump);
    }

    #[test]
    fn arbitrary_records(records in prop::collection::vec((tag(), prop::collection::vec(small(), 0..40)), 0..30)) {
        let mut sample = Sample::new();
        sample.records = records.into_iter().map(|(tag, body)| record(tag, bytes().all(&body))).collect();
        try_all(&sample.bytes());
    }

    #[test]
    fn a_dump_cut_anywhere(share in 0.0..1.0_f64) {
        let dump = Sample::new().bytes();
        let end = (dump.len() as f64 * share) as usize;
        try_all(&dump[..end]);
    }

    #[test]
    fn a_dump_with_other_bytes(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut dump = Sample::new().bytes();
        for (place, value) in changes {
            let at = place.index(dump.len());
            dump[at] = value;
        }
        try_all(&dump);
    }

    #[test]
    fn a_dump_with_odd_numbers(changes in prop::collection::vec((any::<prop::sample::Index>(), 0..ODD.len()), 1..4)) {
        let mut dump = Sample::new().bytes();
        for (place, odd) in changes {
            let at = 31 + place.index(dump.len() - 35);
            dump[at..at + 4].copy_from_slice(&ODD[odd].to_be_bytes());
        }
        try_all(&dump);
    }
}

fn tag() -> impl Strategy<Value = u8> {
    prop_oneof![
        prop::sample::select(&[1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 0x1C, 0x2C][..]),
        any::<u8>()
    ]
}

/// Bytes that often make a number or a tag.
fn small() -> impl Strategy<Value = u8> {
    prop_oneof![3 => Just(0), 2 => 0..12_u8, 1 => 0x20..0x24_u8, 1 => any::<u8>()]
}

#[test]
fn every_prefix_of_a_dump() {
    let dump = Sample::new().bytes();
    for end in 0..dump.len() {
        try_all(&dump[..end]);
    }
}

#[test]
fn lengths_of_4_gib_allocate_nothing() {
    for tag in [1, 5, 6, 13, 0x0C, 0x1C, 0x77] {
        let mut sample = Sample::new();
        let mut lie = record(tag, bytes().u8(0).u4(u32::MAX).u8(0).u8(0).u4(u32::MAX));
        lie.length = Some(u32::MAX);
        sample.records.insert(0, lie);
        try_all(&sample.bytes());
    }
    for array in [
        primitive_array(0x3000, 11, u32::MAX, &[]),
        object_array(0x3000, 0, &[]),
    ] {
        let mut sample = Sample::new();
        let mut array = array;
        array[13..17].copy_from_slice(&u32::MAX.to_be_bytes());
        sample.heap(1).push(array);
        try_all(&sample.bytes());
        let at = sample.at(0x1C, 1);
        sample.records[at].length = Some(u32::MAX);
        try_all(&sample.bytes());
    }
}

#[test]
fn a_long_chain_of_classes_takes_linear_time() {
    const CLASSES: u64 = 50_000;
    let mut sample = Sample::new();
    let name = sample.name("value");
    let id = |number: u64| 0x10_0000 + number * 8;
    let class = |number: u64| {
        let mut dump = ClassDump::new(id(number), if number == 0 { 0 } else { id(number - 1) });
        if number == 0 {
            dump.fields = vec![(name, 8)];
        }
        dump.size = 1;
        dump.bytes()
    };
    *sample.heap(0) = (0..CLASSES).rev().map(class).collect();
    *sample.heap(1) = (0..CLASSES)
        .map(|number| instance(0x4000_0000 + number * 8, 1, id(CLASSES - 1), &[0]))
        .collect();
    try_all(&sample.bytes());
}

/// The fuzzer's seed is the sample, so that it starts from a sound dump; `BLESS=1` writes it anew.
#[test]
fn the_fuzzers_seed_is_the_sample() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/seeds/two_threads");
    let dump = Sample::new().bytes();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &dump).unwrap();
    }
    assert!(
        std::fs::read(path).unwrap() == dump,
        "run with BLESS=1 to write the seed anew"
    );
}
