//! The segments of a heap, read by several threads.

use std::io::ErrorKind;
use std::os::unix::fs::FileExt;

use crate::trial::{file, try_info};
use reader::{summarize, Budget, DumpReader, Histogram, PlainFile, ReadError, Summary};
use sample::*;

/// Id of the name of an Android heap.
const ZYGOTE: u64 = 0x9001;

fn summary(dump: &[u8], threads: usize) -> Summary {
    summarize(&mut DumpReader::of_file(file(dump, threads)).unwrap()).unwrap()
}

/// The sample, and more segments with the sub-records that `sub_records` returns for each number.
fn with_segments(count: u64, sub_records: impl Fn(u64) -> Vec<Vec<u8>>) -> Dump {
    let mut sample = Dump::small();
    let at = sample.at(0x2C, 0);
    let segments = (0..count).map(|number| segment(sub_records(number)));
    sample.records.splice(at..at, segments);
    sample
}

#[test]
fn each_object_is_counted_once() {
    let array = |number| primitive_array(0x10_0000 + 16 * number, 8, 2, &[7, 7]);
    let dump = with_segments(300, |number| vec![array(number); 5]).bytes();
    try_info(&dump);
    assert_eq!(summary(&dump, 4).objects, 8 + 1500);
}

#[test]
fn the_last_root_of_a_thread_counts_and_the_first_dump_of_a_class() {
    let dump = with_segments(200, |number| {
        let mut class = Dump::small().leaf();
        class.size = number as u32;
        vec![thread_root(LEAF, 9, number as u32), class.bytes()]
    });
    let dump = dump.bytes();
    try_info(&dump);
    let found = summary(&dump, 4);
    let last = found.threads.iter().find(|thread| thread.serial == 9);
    assert_eq!(last.unwrap().trace, 199);
    let own = Dump::small().leaf().size;
    assert_eq!(found.classes.get(LEAF).unwrap().instance_bytes, own);
}

#[test]
fn the_first_damaged_places_are_listed_in_order() {
    let dump = with_segments(100, |_| vec![vec![0x77; 40]]).bytes();
    try_info(&dump);
    let found = summary(&dump, 4);
    assert_eq!((found.damaged, found.damage.len()), (100, 10));
    assert!(found.damage.is_sorted_by_key(|damage| damage.offset));
}

#[test]
fn each_segment_begins_outside_of_androids_heaps() {
    let info = bytes().u1(0xFE).u4(0x5A).u8(ZYGOTE).0;
    let array = |number| primitive_array(0x10_0000 + 16 * number, 8, 2, &[7, 7]);
    let dump = with_segments(100, |number| match number % 2 {
        0 => vec![array(number), info.clone(), array(number + 1000)],
        _ => vec![array(number)],
    });
    let dump = dump.bytes();
    try_info(&dump);
    assert_eq!(summary(&dump, 4).heaps[&ZYGOTE].count, 50);
}

#[test]
fn what_the_jvm_tells_of_its_layout_counts_in_each_segment() {
    let array = |number| object_array(0x10_0000 + 256 * number, OBJECT_ARRAY, &[0; 9]);
    let mut sample = with_segments(100, |number| vec![array(number)]);
    let facts = "hprof-rs/facts 1\nheader_bytes=8\narray_header_bytes=40\nvalue_header_bytes=12\n\
                 reference_bytes=8\nalignment_bytes=16\n";
    let before = summary(&sample.bytes(), 4).object_bytes;
    sample.records.insert(0, string(0x7001, facts.as_bytes()));
    let dump = sample.bytes();
    try_info(&dump);
    let after = summary(&dump, 4).object_bytes;
    assert!(after > before + 100 * 48, "{before} {after}");
}

#[test]
fn too_many_classes_in_segments_are_refused() {
    let class = |number| ClassDump::new(0x10_0000 + 8 * number, 0).bytes();
    let dump = with_segments(400, |number| vec![class(number)]).bytes();
    let read = |threads, limit| {
        let reader = DumpReader::of_file(file(&dump, threads)).unwrap();
        Histogram::read(&mut reader.with_budget(Budget::new(limit)))
    };
    for threads in [1, 4] {
        let found = read(threads, 100 << 10);
        assert!(matches!(found, Err(ReadError::TooMuch { .. })), "{threads}");
        assert!(read(threads, 1 << 20).is_ok());
    }
}

#[test]
fn a_file_that_cannot_be_read_is_told_of() {
    let folder = std::fs::File::open(".").unwrap();
    let found = PlainFile::new(folder, |_| {}).map(DumpReader::of_file);
    let Ok(Err(ReadError::Io { source, .. })) = found else {
        panic!("{found:?}");
    };
    assert_eq!(source.kind(), ErrorKind::IsADirectory);
}

#[test]
fn a_segment_that_is_longer_than_its_length_is_read_to_the_next_record() {
    let mut class = ClassDump::new(0x9_0000, OBJECT);
    class.statics = vec![(1, REF, vec![0; 8]), (1, LONG, vec![0; 8])];
    class.fields = vec![(1, INT), (1, REF)];
    let lasts = [
        class.bytes(),
        instance(0x9_0000, 1, LEAF, &[0; 12]),
        object_array(0x9_0000, OBJECT_ARRAY, &[0; 9]),
        primitive_array(0x9_0000, INT, 9, &[0; 36]),
        thread_root(0x10_0000, 9, 1),
    ];
    let array = |number| primitive_array(0x10_0000 + 16 * number, BYTE, 2, &[7, 7]);
    for last in lasts {
        for missing in 1..=last.len() + 8 {
            let mut dump = with_segments(9, |number| match number % 3 {
                1 => vec![array(number), last.clone(), root(0x05, 0x1000)],
                _ => vec![array(number)],
            });
            let whole = summary(&dump.bytes(), 1);
            let records = dump.records.iter_mut();
            for record in records.filter(|record| record.tag == 0x1C) {
                let Body::Heap(parts) = &record.body else {
                    continue;
                };
                if parts.len() == 3 {
                    record.length = Some((parts.concat().len() - missing) as u32);
                }
            }
            let dump = dump.bytes();
            try_info(&dump);
            let found = summary(&dump, 3);
            let counts = |of: &Summary| (of.objects, of.heap_records.clone(), of.roots.clone());
            assert_eq!(counts(&found), counts(&whole), "{missing} of {last:x?}");
            assert_eq!(found.damaged, 3);
        }
    }
}

/// A file of holes: it takes no space on the disk.
#[test]
fn a_heap_of_more_than_4_gib_in_one_record_is_read_to_its_end() {
    let mut head = b"JAVA PROFILE 1.0.1\0\0\0\0\x08\0\0\0\0\0\0\0\0".to_vec();
    let array = |id: u64, length: u32| {
        let head = bytes().u1(0x23).u8(id).u4(1).u4(length).u1(8);
        (head.0, u64::from(length))
    };
    let arrays = [
        array(0x1000, 1 << 31),
        array(0x2000, 1 << 31),
        array(0x3000, 100),
    ];
    let all: u64 = arrays
        .iter()
        .map(|(head, data)| head.len() as u64 + data)
        .sum();
    head.extend(bytes().u1(0x0C).u4(0).u4(all as u32).0);
    let file = tempfile::tempfile().unwrap();
    file.write_all_at(&head, 0).unwrap();
    let mut at = head.len() as u64;
    for (head, data) in &arrays {
        file.write_all_at(head, at).unwrap();
        at += head.len() as u64 + data;
    }
    file.set_len(at).unwrap();
    let file = PlainFile::new(file, |_| ()).unwrap();
    let histogram = Histogram::read(&mut DumpReader::of_file(file).unwrap()).unwrap();
    assert_eq!((histogram.instances(), histogram.damaged), (3, 0));
}
