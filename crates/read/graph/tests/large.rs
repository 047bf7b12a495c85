//! A list of two million objects, and 400,000 roots: exact sizes, no recursion, and constant
//! memory per object.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test fails by panicking"
)]

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};

use format::{record, sub_record, RootKind};
use graph::{Dominator, Heap, Input, Leaks, Options, References, Retained, Who};
use sample::Dump;

const ENTRY: u64 = 0x2000;
const ARRAY: u64 = 0x3000;
const ARRAY_BYTES: u64 = 16 + 100_000;
const ENTRY_BYTES: u64 = 16;
const COUNT: u64 = 2_000_000;
const ROOTS: u64 = 400_000;

/// Memory per object, without the file, which is mapped.
const OBJECT_BYTES_MAX: u64 = 64;

fn entry(number: u64) -> u64 {
    0x10_0000 + number * 24
}

/// A file with `count` entries, each referring to its next object, with roots for each.
fn file(count: u64, next: impl Fn(u64) -> u64, roots: impl Fn(u64, &mut Vec<u8>)) -> File {
    let mut dump = Dump::new(8);
    dump.class(ENTRY, "app/Entry", Dump::OBJECT, 0, &["next"], &[]);
    dump.root(ENTRY);
    dump.byte_array(ARRAY, &[7; 100_000]);
    let head = dump.bytes();
    let (head, end) = head.split_at(head.len() - 9);
    let mut file = tempfile::tempfile().unwrap();
    let mut to = BufWriter::new(&mut file);
    to.write_all(head).unwrap();
    for first in (0..count).step_by(100_000) {
        let mut part = Vec::new();
        for number in first..first + 100_000 {
            part.push(sub_record::INSTANCE_DUMP);
            part.extend_from_slice(&entry(number).to_be_bytes());
            part.extend_from_slice(&[0; 4]);
            part.extend_from_slice(&ENTRY.to_be_bytes());
            part.extend_from_slice(&[0, 0, 0, 8]);
            part.extend_from_slice(&next(number).to_be_bytes());
            roots(number, &mut part);
        }
        to.write_all(&[record::HEAP_DUMP_SEGMENT, 0, 0, 0, 0])
            .unwrap();
        to.write_all(&(part.len() as u32).to_be_bytes()).unwrap();
        to.write_all(&part).unwrap();
    }
    to.write_all(end).unwrap();
    drop(to);
    file.seek(SeekFrom::Start(0)).unwrap();
    file
}

fn read(file: File, ask: impl FnOnce(&Heap<'_>, &Retained)) {
    let heap = Heap::read(Input::new(file, &|_| {}).unwrap(), Options::default()).unwrap();
    assert_eq!((heap.damaged(), heap.dangling()), (0, 0));
    ask(&heap, &Retained::of(&heap, References::All).unwrap());
}

/// The peak memory of this process.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kib = line.split_whitespace().nth(1).unwrap();
    kib.parse::<u64>().unwrap() * 1024
}

fn its_path_has_two_ends(heap: &Heap<'_>) {
    let end = heap.object(ARRAY).unwrap();
    let path = heap.paths(&[end], 36).unwrap().remove(0).unwrap();
    let middle = path.left_out.unwrap();
    let left_out = COUNT + 1 - 36;
    assert_eq!((middle.objects, middle.of_class), (left_out, left_out));
    assert_eq!(path.steps.len(), 36);
}

/// A single test, because the peak covers the whole process.
#[test]
fn lists_and_roots_of_any_number_are_exact() {
    let next = |number| {
        if number + 1 < COUNT {
            entry(number + 1)
        } else {
            ARRAY
        }
    };
    let list = file(COUNT, next, |number, to| {
        if number == 0 {
            to.push(RootKind::Unknown.tag());
            to.extend_from_slice(&entry(0).to_be_bytes());
        }
    });
    let (file_bytes, before) = (list.metadata().unwrap().len(), peak_bytes());
    read(list, |heap, retained| {
        for number in [0, 1, COUNT / 2, COUNT - 1] {
            let object = heap.object(entry(number)).unwrap();
            let kept = (COUNT - number) * ENTRY_BYTES + ARRAY_BYTES;
            assert_eq!(retained.bytes(object), kept, "{number}");
        }
        let leaks = Leaks::find(heap, retained, 10).unwrap();
        let first = leaks.suspects.first().unwrap();
        assert_eq!(first.who, Who::Object(heap.object(entry(0)).unwrap()));
        its_path_has_two_ends(heap);
    });
    let most = before + file_bytes + COUNT * OBJECT_BYTES_MAX;
    assert!(peak_bytes() < most, "{} of {most} bytes", peak_bytes());

    // A thread holds half of them.
    let roots = file(
        ROOTS,
        |_| ARRAY,
        |number, to| {
            let is_local = number % 2 == 0;
            to.push([RootKind::JniGlobal.tag(), RootKind::JavaFrame.tag()][usize::from(is_local)]);
            to.extend_from_slice(&entry(number).to_be_bytes());
            to.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0, 0]);
        },
    );
    read(roots, |heap, retained| {
        let array = heap.object(ARRAY).unwrap();
        assert_eq!(retained.dominator(array), Dominator::Roots);
        assert_eq!(retained.bytes(array), ARRAY_BYTES);
        let thread = heap.object(Dump::THREAD).unwrap();
        let local = heap.object(entry(0)).unwrap();
        assert_eq!(retained.dominator(local), Dominator::Object(thread));
        assert_eq!(retained.bytes(thread), 16 + ROOTS / 2 * ENTRY_BYTES);
        let global = heap.object(entry(1)).unwrap();
        assert_eq!(retained.dominator(global), Dominator::Roots);
        assert_eq!(retained.bytes(global), ENTRY_BYTES);
        let class = heap.class(global);
        let leaks = Leaks::find(heap, retained, 10).unwrap();
        let together = Who::Class {
            class,
            objects: ROOTS / 2,
        };
        assert!(leaks.suspects.iter().any(|suspect| suspect.who == together));
    });
}
