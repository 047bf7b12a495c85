//! Fuzzes the reading of a forked copy with damaged heaps: each is rejected or read to its end, and
//! nothing panics.
#![no_main]

use format::BasicType;
use snapshot::classes::Shape;
use snapshot::encode::{Encoder, FieldCopy, Parts};
use snapshot::layout::{
    Calibration, ClassWords, InventedHeap, MirrorInKlass, Oops, Plan, StaticIds,
};
use snapshot::memory::BufferMemory;
use snapshot::walk::{Batch, MarkOnly, Walker, Work};
use snapshot::Snapshot;
use writer::Segments;

/// Start address of the walk's heap: so low that an address mistaken for a length does not make a
/// long array.
const START: u64 = 0x1000;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((kind, rest)) = bytes.split_first() else {
        return;
    };
    if kind & 1 == 0 {
        calibrate(kind >> 1, rest);
    } else {
        walk_and_encode(rest);
    }
});

/// Calibrates on a heap in which some bits are flipped.
fn calibrate(kind: u8, damages: &[u8]) {
    let mut heap = InventedHeap::new(&plan(kind));
    for damage in damages.chunks_exact(4) {
        let word = u64::from(u16::from_le_bytes([damage[0], damage[1]])) * 4 % heap.bytes();
        heap.flip(word, 1 << (damage[2] % 32));
    }
    let calibration = Calibration {
        memory: heap.memory(),
        mappings: &heap.mappings("rw-p"),
        objects: &heap.objects,
        statics: &heap.statics,
    };
    let found = calibration.run();
    assert!(!damages.is_empty() || found == Ok(heap.layout));
}

fn plan(kind: u8) -> Plan {
    Plan {
        oop_shift: [None, Some(0), Some(3), Some(8)][usize::from(kind & 3)],
        class_words: [
            ClassWords::Wide,
            ClassWords::Narrow,
            ClassWords::Compact(42),
            ClassWords::Compact(37),
        ][usize::from((kind >> 2) & 3)],
        class_shift: if kind & 16 == 0 { 3 } else { 10 },
        klass_in_mirror: 16,
        mirror_in_klass: MirrorInKlass {
            offset: 112,
            through_slot: kind & 32 == 0,
        },
        static_ids: StaticIds {
            holder: 0,
            offset: 16,
        },
    }
}

/// Marks and encodes a heap of these words. Every second one in the middle is an address in the
/// heap.
fn walk_and_encode(bytes: &[u8]) {
    let count = bytes.len() as u64 / 2;
    let word = |pair: &[u8]| match u64::from(u16::from_le_bytes([pair[0], pair[1]])) {
        small @ 0..0x4000 => small,
        other => START + other % count * 8,
    };
    let heap: Vec<u8> = bytes
        .chunks_exact(2)
        .flat_map(|pair| word(pair).to_le_bytes())
        .collect();
    let memory = BufferMemory::new(START, &heap);
    let snapshot = Snapshot::invented(memory, START..START + heap.len() as u64, shapes());
    let work = Work::new(vec![Batch::References(vec![START])]);
    if Walker::new(&snapshot, &work, MarkOnly).run().is_err() {
        return;
    }
    let marked: usize = (0..)
        .map_while(|part| snapshot.marks.part(part))
        .map(Iterator::count)
        .sum();
    for grouped in [false, true] {
        let segments = Segments::new(|_: Vec<u8>| Ok(()));
        if let Ok(encoded) = Encoder::new(&snapshot, segments, grouped).run(&Parts::default()) {
            assert_eq!(encoded.objects, marked as u64);
        }
    }
}

fn shapes() -> Vec<Shape> {
    let copy = |offset, basic_type| FieldCopy::new(offset, basic_type, Oops::Wide, true).unwrap();
    vec![
        Shape::Instance {
            fields: vec![copy(16, BasicType::Object), copy(24, BasicType::Boolean)],
            data_bytes: 9,
            references: vec![16],
            primitive_arrays: vec![24],
            heap_bytes: 32,
        },
        Shape::ObjectArray,
        Shape::PrimitiveArray(BasicType::Long),
        Shape::PrimitiveArray(BasicType::Char),
        Shape::Unknown,
    ]
}
