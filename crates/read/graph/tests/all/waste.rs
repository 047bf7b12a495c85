//! Planted waste is found, to the byte.

use graph::{Filling, Heap, Input, Options, References, Retained, Waste};
use sample::{wasteful, Dump};

/// Bytes of objects and arrays with compressed references; with ids of 4 bytes all headers are
/// shorter.
struct Expected {
    id_bytes: u32,
    text: u64,
    text_array: u64,
    array: u64,
    list: u64,
    places: u64,
    set: u64,
    map: u64,
    boxed: u64,
}

/// Bytes of an array of two references.
const PAIR: u64 = 24;

const EXPECTED: [Expected; 2] = [
    Expected {
        id_bytes: 8,
        text: 24,
        text_array: 24,
        array: 120,
        list: 24,
        places: 56,
        set: 16,
        map: 24,
        boxed: 16,
    },
    Expected {
        id_bytes: 4,
        text: 16,
        text_array: 24,
        array: 112,
        list: 16,
        places: 56,
        set: 16,
        map: 16,
        boxed: 16,
    },
];

fn find(id_bytes: u32, packed: bool) -> Waste {
    find_in(&wasteful::dump(id_bytes), packed)
}

fn find_in(dump: &Dump, packed: bool) -> Waste {
    let input = Input::new(dump.file(packed), &|_| {}).unwrap();
    let heap = Heap::read(
        input,
        Options {
            threads: 2,
            by_rule: false,
        },
    )
    .unwrap();
    let retained = Retained::of(&heap, References::All).unwrap();
    Waste::find(&heap, &retained).unwrap()
}

#[test]
fn planted_waste_is_found() {
    for expected in &EXPECTED {
        let waste = find(expected.id_bytes, false);
        let strings = &waste.strings;
        assert_eq!((strings.objects, strings.contents), (5, 3));
        // Three equal strings with two arrays.
        let lost = 2 * expected.text + expected.text_array;
        assert_eq!((strings.groups[0].objects, strings.lost_bytes), (3, lost));
        assert_eq!(strings.groups.len(), 1);
        let arrays = &waste.arrays;
        assert_eq!((arrays.objects, arrays.contents), (2, 1));
        assert_eq!(arrays.lost_bytes, expected.array);
        let rows = waste.collections.iter();
        let rows: Vec<_> = rows
            .map(|row| (row.filling, &*row.holder, row.objects, row.lost_bytes))
            .collect();
        let mut wanted = [
            (Filling::Sparse, "app.Owner#all", 1, 62 * 4),
            (
                Filling::Empty,
                "app.Owner#names",
                1,
                expected.list + expected.places,
            ),
            (Filling::One, "app.Owner#tags", 1, expected.list + PAIR),
            (
                Filling::Empty,
                "app.Owner#seen",
                1,
                expected.set + expected.map,
            ),
        ];
        wanted.sort_by_key(|row| std::cmp::Reverse(row.3));
        assert_eq!(rows, wanted);
        let boxed: Vec<_> = waste
            .boxed
            .iter()
            .map(|row| (&*row.holder, row.bytes))
            .collect();
        let wanted = ["app.Owner#count", "app.Owner#LAST (static)"].map(|it| (it, expected.boxed));
        assert_eq!(boxed, wanted);
        let sum: u64 = waste.collections.iter().map(|row| row.lost_bytes).sum();
        assert_eq!(
            waste.lost_bytes(),
            lost + expected.array + sum + 2 * expected.boxed
        );
    }
}

#[test]
fn arrays_of_zeros_are_no_duplicates() {
    let mut dump = wasteful::dump(8);
    for (id, length) in [(0x9_0000, 100), (0x9_1000, 100), (0x9_2000, 40)] {
        dump.byte_array(id, &vec![0; length]);
        dump.root(id);
    }
    let (with, without) = (find_in(&dump, false), find(8, false));
    assert_eq!(with.arrays, without.arrays);
    assert_eq!(with.lost_bytes(), without.lost_bytes());
    let zeros = &with.zeros;
    assert_eq!((zeros.objects, zeros.contents), (3, 2));
    let groups = zeros.groups.iter();
    let groups: Vec<_> = groups
        .map(|group| (group.length, group.objects, group.lost_bytes))
        .collect();
    assert_eq!(groups, [(100, 2, 240), (40, 1, 56)]);
    assert_eq!(zeros.lost_bytes, 296);
    assert_eq!(without.zeros.objects, 0);
}

#[test]
fn a_packed_file_has_the_same() {
    assert_eq!(find(8, true), find(8, false));
}
