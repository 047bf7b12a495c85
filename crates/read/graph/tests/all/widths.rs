//! The width of references where the file does not tell it, by the graph and by the reader.

use graph::{Heap, Input, Options};
use reader::{DumpReader, Histogram};
use sample::{file_of, Dump};

/// The bytes of a heap of arrays and objects by the graph, and their true number. Each object
/// starts where the one before ends if references have this width.
fn bytes(start: u64, width: u64) -> (u64, u64) {
    const NODE: u64 = 0x2000;
    let rounded = |bytes: u64| bytes.next_multiple_of(8);
    let mut dump = Dump::new(8);
    dump.class(NODE, "app/Node", Dump::OBJECT, 0, &["next", "other"], &[]);
    let (mut at, mut expected) = (start, 0);
    for length in 2..30 {
        dump.object_array(at, &vec![0; length]);
        let array = rounded(8 + 2 * width + length as u64 * width);
        dump.instance(at + array, NODE, &[0, 0]);
        let bytes = array + rounded(8 + 3 * width);
        at += bytes;
        expected += bytes;
    }
    let bytes = dump.bytes();
    let histogram = Histogram::read(&mut DumpReader::new(Box::new(&*bytes)).unwrap()).unwrap();
    let input = Input::new(file_of(&bytes), &|_| ()).unwrap();
    let heap = Heap::read(input, Options::default()).unwrap();
    let object = |id| heap.object(id).unwrap();
    let others: u64 = [Dump::THREAD]
        .map(|id| heap.shallow_bytes(object(id)))
        .iter()
        .sum();
    let all: u64 = (0..heap.objects())
        .map(|object| heap.shallow_bytes(object))
        .sum();
    assert_eq!(histogram.bytes(), all);
    assert_eq!(heap.sizes().reference_bytes, width);
    (all - others, expected)
}

#[test]
fn wide_references_below_32_gib_are_seen_by_the_ends_of_arrays() {
    for start in [1 << 31, 1 << 40] {
        for width in [4, 8] {
            let (sum, expected) = bytes(start, width);
            assert_eq!(sum, expected, "{start:#x}, {width}");
        }
    }
}
