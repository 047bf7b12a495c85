//! Hostile files: a file that is truncated, changed or invented gives an answer or an error, never
//! a panic, and no length in it is trusted for allocation.

use graph::{Heap, Input, Options};
use proptest::prelude::*;
use sample::{file_of, Dump};
use writer::{GraphClass, GraphObjects};

fn sample(id_bytes: u32) -> Vec<u8> {
    let mut dump = Dump::new(id_bytes);
    dump.class(
        0x2000,
        "app/Cache",
        Dump::OBJECT,
        0,
        &["first", "second"],
        &[("ALL", 0x3000)],
    );
    dump.object_array(0x3000, &[0x3100, 0x3200, 0, 0x9999]);
    dump.instance(0x3100, 0x2000, &[0x3200, Dump::THREAD]);
    dump.instance(0x3200, 0x2000, &[0, 0x3100]);
    dump.root(0x2000);
    dump.local(0x3200);
    dump.bytes()
}

fn analyse(bytes: &[u8]) -> Result<(), graph::GraphError> {
    crate::trial::analyse(file_of(bytes))
}

#[test]
fn a_sound_file_is_analysed() {
    for id_bytes in [4, 8] {
        analyse(&sample(id_bytes)).unwrap();
    }
}

#[test]
fn a_file_may_end_anywhere() {
    let whole = sample(8);
    for length in 0..whole.len() {
        let _ = analyse(&whole[..length]);
    }
}

/// With a fixed hash function, each lookup would compare all of these classes.
#[test]
fn ids_that_were_made_to_collide_take_linear_time() {
    // The inverse of the factor of the crate rustc-hash, which multiplies ids.
    const INVERSE: u64 = 0x7814_94a5_5daa_ed0d;
    let mut dump = Dump::new(8);
    for number in 1..=100_000 {
        let id = INVERSE.wrapping_mul(number);
        dump.class(id, "app/Made", Dump::OBJECT, 0, &[], &[]);
        dump.instance(0x10_0000 + 16 * number, id, &[]);
        dump.root(0x10_0000 + 16 * number);
    }
    analyse(&dump.bytes()).unwrap();
}

fn stream() -> Vec<u8> {
    let mut dump = Dump::new(8);
    let fields = [("first", 2), ("second", 2), ("size", 10)];
    dump.class_of(0x2000, "app/Pair", (Dump::OBJECT, 0), &fields, &[]);
    let pair = GraphClass::Instance {
        class: 0x2000,
        heap_bytes: 24,
        data_bytes: 20,
        references: vec![0, 8],
        numbers: vec![(16, 4)],
    };
    let array = GraphClass::References {
        class: Dump::ARRAY,
        header_bytes: 16,
        width_bytes: 4,
    };
    let mut objects = GraphObjects::new(8);
    let code = objects.object(0, &pair, 1, 0x3000);
    objects.reference(0x3018);
    objects.reference(Dump::THREAD);
    objects.number(7);
    objects.object(code, &pair, 1, 0x3018);
    objects.reference(0);
    objects.reference(0x3030);
    objects.number(0xFFFF_FFFF);
    objects.object(0, &array, 7, 0x3030);
    objects.length(2, 24);
    objects.reference(0x3000);
    objects.reference(0);
    let mut block = Vec::new();
    objects.take(&mut block).unwrap();
    dump.sub_record(&block);
    dump.root(0x3018);
    dump.stream()
}

#[test]
fn a_graph_stream_may_end_anywhere() {
    let whole = stream();
    analyse(&whole).unwrap();
    for length in 0..whole.len() {
        let _ = analyse(&whole[..length]);
    }
    let mut other = whole;
    other[format::HEADER_GRAPH.len() - 1] = b'1';
    let error = analyse(&other).unwrap_err();
    assert!(matches!(error, graph::GraphError::OtherStream));
}

#[test]
fn a_dangling_reference_is_counted() {
    let input = Input::new(file_of(&sample(8)), &|_| {}).unwrap();
    let heap = Heap::read(input, Options::default()).unwrap();
    assert_eq!((heap.dangling(), heap.damaged()), (1, 0));
}

#[test]
fn each_object_has_its_own_references_among_dangling_ones() {
    const OBJECTS: u64 = 300;
    let id = |object: u64| 0x20_0000 + object * 0x4000;
    let mut dump = Dump::new(8);
    let mut expected = Vec::new();
    for object in 0..OBJECTS {
        let count = object % 7 * object;
        // Every third reference is dangling.
        let targets: Vec<u64> = (0..count).map(|at| at * 31 % OBJECTS).collect();
        let ids = targets.iter().zip(0..).map(|(to, at)| match at % 3 {
            1 => 0x77,
            _ => id(*to),
        });
        dump.object_array(id(object), &ids.collect::<Vec<_>>());
        let found = targets.iter().zip(0..).filter(|(_, at)| at % 3 != 1);
        expected.push(found.map(|(to, _)| id(*to)).collect::<Vec<_>>());
    }
    let input = Input::new(file_of(&dump.bytes()), &|_| {}).unwrap();
    let heap = Heap::read(input, Options::default()).unwrap();
    for (object, expected) in (0..OBJECTS).zip(expected) {
        let targets = heap.targets(heap.object(id(object)).unwrap());
        let found: Vec<u64> = targets.iter().map(|target| heap.id(*target)).collect();
        assert_eq!(found, expected, "{object}");
    }
}

/// An array filled with one object takes no more memory than one with a single element.
#[test]
fn references_in_a_row_to_one_object_are_counted_and_kept_once() {
    const FILLED: u64 = 0x3000;
    const OTHER: u64 = 0x3200;
    let elements = [
        Dump::THREAD,
        Dump::THREAD,
        0,
        Dump::THREAD,
        OTHER,
        0x77,
        0x77,
        Dump::THREAD,
        Dump::THREAD,
        OTHER,
    ];
    let mut dump = Dump::new(8);
    dump.object_array(FILLED, &elements);
    dump.object_array(OTHER, &[OTHER, OTHER]);
    let input = Input::new(file_of(&dump.bytes()), &|_| {}).unwrap();
    let heap = Heap::read(input, Options::default()).unwrap();
    let targets = |id: u64| {
        let targets = heap.targets(heap.object(id).unwrap());
        targets.iter().map(|to| heap.id(*to)).collect::<Vec<_>>()
    };
    assert_eq!(targets(FILLED), [Dump::THREAD, OTHER, Dump::THREAD, OTHER]);
    // The last reference of one object and the first of the next do not count as repeated.
    assert_eq!(targets(OTHER), [OTHER]);
    // Each class refers to its superclass and its loader.
    let of_others =
        (0..heap.objects()).filter(|object| ![FILLED, OTHER].contains(&heap.id(*object)));
    let of_others: usize = of_others.map(|object| heap.targets(object).len()).sum();
    assert_eq!(heap.references(), 7 + 2 + of_others as u64);
    assert_eq!(heap.dangling(), 2);
}

/// More distinct references than a compressed file of some kilobytes may have.
#[test]
fn a_small_file_with_too_many_references_is_refused() {
    const ARRAYS: u64 = 6_000;
    const ELEMENTS: u64 = 4_000;
    let id = |object: u64| 0x20_0000 + object * 0x8000;
    let elements: Vec<u64> = (0..ELEMENTS).map(|at| id(at % 2)).collect();
    let mut dump = Dump::new(8);
    for array in 0..ARRAYS {
        dump.object_array(id(array), &elements);
    }
    let input = Input::new(dump.file(true), &|_| {}).unwrap();
    let fault = Heap::read(input, Options::default()).err();
    let fault = fault.map(|fault| fault.to_string());
    assert!(
        fault
            .as_ref()
            .is_some_and(|fault| fault.contains("MiB of memory")),
        "{fault:?}"
    );
}

proptest! {
    #[test]
    fn changed_bytes_do_no_harm(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = sample(8);
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let _ = analyse(&bytes);
    }

    #[test]
    fn changed_bytes_of_a_graph_stream_do_no_harm(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = stream();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let _ = analyse(&bytes);
    }
}
