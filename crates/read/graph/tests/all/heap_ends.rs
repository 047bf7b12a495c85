//! Segments with a false length: the graph has the objects that the reader counts, whether the file
//! is compressed and however many threads read it.

use std::io::Write;

use flate2::{write::GzEncoder, Compression};
use graph::{Heap, Input, Options};
use proptest::prelude::*;
use reader::{DumpReader, Histogram};
use sample::{file_of, Dump};

/// Ids that no byte of a length or a tag is part of, so that no change makes two of them equal.
const FIRST: u64 = 0x7777_7770;

/// The class of the arrays.
const ARRAY: u64 = FIRST - 0x10;

/// A dump with objects of all kinds in several segments.
fn dump(id_bytes: u32) -> Vec<u8> {
    let mut dump = Dump::new(id_bytes);
    dump.class(FIRST - 8, "java/lang/Class", Dump::OBJECT, 0, &[], &[]);
    dump.class(ARRAY, "[Lapp/Node;", Dump::OBJECT, 0, &[], &[]);
    for number in 0..6_u64 {
        let id = FIRST + number * 0x100;
        dump.class(id, "app/Node", Dump::OBJECT, 0, &["next"], &[("ALL", id)]);
        dump.instance(id + 0x10, id, &[id]);
        dump.root(id);
        dump.add(dump.to().object_array(id + 0x20, ARRAY, &[id, id + 0x10]));
        dump.sub_record(&dump.to().root(0x05, id).0);
        dump.byte_array(id + 0x30, &[7; 40]);
        dump.local(id + 0x30);
        dump.sub_record(&dump.to().root(0x01, id).id(7).0);
    }
    dump.bytes()
}

/// The places of the lengths of heap records.
fn lengths(dump: &[u8]) -> Vec<usize> {
    let (mut at, mut places) = (31, Vec::new());
    while at < dump.len() {
        if dump[at] == 0x1C {
            places.push(at + 5);
        }
        at += 9 + u32::from_be_bytes(*dump[at + 5..].first_chunk().unwrap()) as usize;
    }
    places
}

/// The objects and the damaged places that the graph finds.
fn objects(bytes: &[u8], threads: usize) -> Option<(u64, u64)> {
    let options = Options {
        threads,
        by_rule: false,
    };
    let input = Input::new(file_of(bytes), &|_| {}).unwrap();
    let heap = Heap::read(input, options).ok()?;
    Some((heap.objects().into(), heap.damaged()))
}

/// All ways find the same objects. Returns their number.
fn agree(bytes: &[u8]) -> u64 {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    let packed = packed.finish().unwrap();
    let found = objects(bytes, 1);
    assert_eq!(objects(bytes, 3), found);
    assert_eq!(objects(&packed, 3), found);
    let mut dump = DumpReader::new(Box::new(bytes)).unwrap();
    let counted = Histogram::read(&mut dump).unwrap().instances();
    assert_eq!(found.map_or(0, |(objects, _)| objects), counted);
    counted
}

#[test]
fn a_segment_may_end_inside_any_of_its_sub_records() {
    for id_bytes in [4, 8] {
        let whole = dump(id_bytes);
        let all = agree(&whole);
        for place in lengths(&whole) {
            let length = u32::from_be_bytes(*whole[place..].first_chunk().unwrap());
            // With short ids the same places end otherwise only in their distance.
            let step = if id_bytes == 8 { 1 } else { 7 };
            for shorter in (1..length).step_by(step) {
                let mut bytes = whole.clone();
                bytes[place..place + 4].copy_from_slice(&shorter.to_be_bytes());
                assert_eq!(agree(&bytes), all, "{place:#x} {shorter}");
            }
        }
    }
}

proptest! {
    #[test]
    fn any_length_of_a_heap_record(place in any::<prop::sample::Index>(), length in 0..600_u32) {
        let mut bytes = dump(8);
        let place = *place.get(&lengths(&bytes));
        bytes[place..place + 4].copy_from_slice(&length.to_be_bytes());
        agree(&bytes);
    }

    #[test]
    fn any_length_of_an_array(place in any::<prop::sample::Index>(), length in prop_oneof![0..200_u32, any::<u32>()]) {
        let mut bytes = dump(8);
        let arrays: Vec<usize> = (0..bytes.len() - 17).filter(|at| matches!(bytes[*at..], [0x22 | 0x23, 0, 0, 0, 0, 0x77, ..])).collect();
        let place = *place.get(&arrays) + 13;
        bytes[place..place + 4].copy_from_slice(&length.to_be_bytes());
        agree(&bytes);
    }
}
