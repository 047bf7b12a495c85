//! The speed of marking and encoding a snapshot's heap, measured on an invented heap: objects per
//! second and thread.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark that cannot make its input must stop"
)]
#![allow(
    unsafe_code,
    reason = "a forked copy is read without checks, so this is, too"
)]

use divan::counter::ItemsCount;
use divan::{black_box, Bencher};
use format::BasicType;
use snapshot::classes::Shape;
use snapshot::encode::{Encoder, FieldCopy, Parts};
use snapshot::layout::Oops;
use snapshot::memory::ProcessMemory;
use snapshot::walk::{Batch, MarkOnly, Walker, Work};
use snapshot::Snapshot;
use writer::Segments;

fn main() {
    divan::main();
}

/// Objects of the heap: 24 MB with the words below, more than most processors cache.
const NODES: u64 = 500_000;
/// Words of an object: mark, class, two references, a long, two ints.
const NODE_WORDS: u64 = 6;
/// One in this many objects is an array of references to others.
const ARRAY_STEP: u64 = 16;

/// Maps each number below `NODES` to another one.
fn scattered(number: u64) -> u64 {
    // Odd and not a multiple of 5, so that it has no common factor with `NODES`.
    number.wrapping_mul((0x9E37_79B9_7F4A_7C15 % NODES) | 1) % NODES
}

/// Objects that refer to each other across the whole heap.
fn heap() -> Vec<u64> {
    let mut words = vec![0_u64; usize::try_from(NODES * NODE_WORDS).expect("a size")];
    let start = words.as_ptr() as u64;
    let at = |node: u64| start + node * NODE_WORDS * 8;
    for (node, object) in (0..NODES).zip(words.chunks_mut(6)) {
        let (first, second) = (at((node + 1) % NODES), at(scattered(node)));
        let filled = if node % ARRAY_STEP == 0 {
            // The length, and three elements.
            [1, 2, 3, first, second, second]
        } else {
            [1, 1, first, second, node, (node << 32) | 7]
        };
        object.copy_from_slice(&filled);
    }
    words
}

fn shapes() -> Vec<Shape> {
    let types = [
        (16, BasicType::Object),
        (24, BasicType::Object),
        (32, BasicType::Long),
        (40, BasicType::Int),
        (44, BasicType::Int),
    ];
    let copy = |&(offset, basic_type): &(u32, BasicType)| {
        FieldCopy::new(offset, basic_type, Oops::Wide, true).expect("behind the header")
    };
    let instance = Shape::Instance {
        fields: types.iter().map(copy).collect(),
        data_bytes: 32,
        references: vec![16, 24],
        primitive_arrays: Vec::new(),
        heap_bytes: 48,
    };
    vec![instance, Shape::ObjectArray]
}

/// The heap, read like a forked copy.
fn snapshot(words: &[u64]) -> Snapshot {
    // SAFETY: the words outlive the benchmark's use of the snapshot, and nothing writes to them;
    // all addresses lie in them.
    let memory = unsafe { ProcessMemory::new() };
    let start = words.as_ptr() as u64;
    Snapshot::invented(memory, start..start + size_of_val(words) as u64, shapes())
}

/// Marks everything reachable from one object, which is the whole heap.
fn reach(snapshot: &Snapshot, first: u64) {
    let work = Work::new(vec![Batch::References(vec![first])]);
    if let Err(failure) = Walker::new(snapshot, &work, MarkOnly).run() {
        panic!("{failure:?}");
    }
}

#[divan::bench]
fn marks(bencher: Bencher<'_, '_>) {
    let words = heap();
    let first = words.as_ptr() as u64;
    bencher
        .counter(ItemsCount::new(NODES))
        .with_inputs(|| snapshot(&words))
        .bench_local_values(|snapshot| {
            reach(&snapshot, first);
            snapshot
        });
}

#[divan::bench(args = [false, true])]
fn encodes(bencher: Bencher<'_, '_>, grouped: bool) {
    let words = heap();
    let snapshot = snapshot(&words);
    reach(&snapshot, words.as_ptr() as u64);
    bencher.counter(ItemsCount::new(NODES)).bench_local(|| {
        let segments = Segments::new(|bytes: Vec<u8>| {
            drop(black_box(bytes));
            Ok(())
        });
        let encoded = Encoder::new(&snapshot, segments, grouped).run(&Parts::default());
        assert_eq!(encoded.expect("no failure").objects, NODES);
    });
}
