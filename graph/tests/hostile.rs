//! Files that are cut off, changed or made up give an answer or an error, never a panic, and no length in
//! a file is trusted for allocation.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod trial;
mod written;

use graph::{Heap, Input, Options};
use proptest::prelude::*;
use written::{file_of, Dump, OBJECT, THREAD};

fn sample(id_bytes: u32) -> Vec<u8> {
    let mut dump = Dump::new(id_bytes);
    dump.class(
        0x2000,
        "app/Cache",
        OBJECT,
        0,
        &["first", "second"],
        &[("ALL", 0x3000)],
    );
    dump.object_array(0x3000, &[0x3100, 0x3200, 0, 0x9999]);
    dump.instance(0x3100, 0x2000, &[0x3200, THREAD]);
    dump.instance(0x3200, 0x2000, &[0, 0x3100]);
    dump.root(0x2000);
    dump.local(0x3200);
    dump.bytes()
}

fn analyse(bytes: &[u8]) -> Result<(), graph::GraphError> {
    trial::analyse(file_of(bytes))
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

#[test]
fn a_dangling_reference_is_counted() {
    let input = Input::new(file_of(&sample(8)), &|_| {}).unwrap();
    let heap = Heap::read(input, Options::default()).unwrap();
    assert_eq!((heap.dangling(), heap.damaged()), (1, 0));
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
}
