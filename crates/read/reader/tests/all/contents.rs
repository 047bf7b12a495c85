//! The output of `info` and `histo` for a dump with known contents.

use std::io::Read;

use reader::{
    summarize, thread_names, Budget, DamageKind, DumpReader, Event, HeapRecord, Histogram,
    ReadError, RootKind, Version,
};
use sample::*;

fn reader(dump: &[u8]) -> DumpReader<'_> {
    DumpReader::new(Box::new(dump)).unwrap()
}

#[test]
fn the_summary_counts_what_is_there() {
    let dump = Dump::small().bytes();
    let summary = summarize(&mut reader(&dump)).unwrap();
    assert_eq!(summary.header.version, Version::V1_0_2);
    assert_eq!(summary.header.time_millis, 1_700_000_000_000);
    assert_eq!(summary.bytes, dump.len() as u64);
    assert_eq!(summary.objects, 8);
    assert_eq!(summary.loaders, 1);
    assert_eq!(summary.damaged, 0);
    assert_eq!(summary.records["LOAD CLASS"].count, 18);
    assert_eq!(summary.records["LOAD CLASS"].bytes, 18 * 33);
    assert_eq!(summary.records["HEAP DUMP SEGMENT"].count, 2);
    assert_eq!(summary.heap_records["INSTANCE DUMP"].count, 5);
    assert_eq!(
        summary.heap_records["PRIMITIVE ARRAY DUMP"].bytes,
        18 + 3 + 18 + 8
    );
    assert_eq!(summary.roots[&RootKind::JavaFrame].count, 2);
    let records: u64 = summary.records.values().map(|total| total.bytes).sum();
    assert_eq!(records + 31, dump.len() as u64);
    let heap = summary.heap_records.values().chain(summary.roots.values());
    let heap: u64 = heap.map(|total| total.bytes).sum();
    assert_eq!(heap + 2 * 9, summary.records["HEAP DUMP SEGMENT"].bytes);
}

#[test]
fn a_class_without_a_name_is_named_by_its_id() {
    let dump = Dump::small().bytes();
    let summary = summarize(&mut reader(&dump)).unwrap();
    let name = |class| summary.classes.java_name(class, &summary.strings);
    assert_eq!(name(LEAF), "app.Leaf");
    assert_eq!(name(0xABCD), "class 0xabcd");
}

#[test]
fn threads_have_their_stacks() {
    let dump = Dump::small().bytes();
    let summary = summarize(&mut reader(&dump)).unwrap();
    let [main, worker] = summary.threads.as_slice() else {
        panic!("two threads expected")
    };
    assert_eq!(
        (
            main.serial,
            main.object,
            summary.stacks.depth_frames(main.trace)
        ),
        (1, MAIN, 2)
    );
    assert_eq!(summary.stacks.depth_frames(worker.trace), 1);
    let top = summary.stacks.frames(main.trace).next().unwrap();
    let words = (
        top.class.as_ref(),
        top.method.as_ref(),
        top.source.as_deref(),
        top.line,
    );
    assert_eq!(words, ("app.Leaf", "run", Some("Leaf.java"), 7));
}

#[test]
fn threads_have_names_from_records_or_objects() {
    let mut sample = Dump::small();
    let name = sample.name("app/Leaf");
    let at = sample.at(0x1C, 0);
    let start = bytes().u4(2).u8(WORKER).u4(1).u8(name).u8(0).u8(0);
    sample.records.insert(at, record(0x0A, start));
    let dump = sample.bytes();
    let summary = summarize(&mut reader(&dump)).unwrap();
    assert_eq!(summary.threads[0].name, None);
    assert_eq!(summary.threads[1].name.as_deref(), Some("app/Leaf"));
    let mut open = || Ok(Box::new(dump.as_slice()) as Box<dyn Read>);
    let names = thread_names(
        &mut open,
        &summary.classes,
        &summary.strings,
        &[MAIN, WORKER],
        Budget::default(),
    )
    .unwrap();
    assert_eq!(names.len(), 1);
    assert_eq!(names[&MAIN], "main");
}

#[test]
fn the_histogram_counts_each_class() {
    let histogram = Histogram::read(&mut reader(&Dump::small().bytes())).unwrap();
    let row = |class: &str| {
        let row = histogram
            .rows
            .iter()
            .find(|row| &*row.class == class)
            .unwrap();
        (row.instances, row.bytes)
    };
    // By Eclipse MAT's rules: headers of 12 bytes, references of 4, and the static fields of
    // classes.
    let sizes = [
        ("java.lang.Class", (18, 8)),
        ("java.lang.Thread", (2, 32)),
        ("app.Leaf", (1, 32)),
        ("java.lang.Object[]", (1, 32)),
        ("boolean[]", (1, 24)),
        ("char[]", (1, 24)),
    ];
    assert_eq!(sizes.map(|(class, _)| (class, row(class))), sizes);
    assert!(!histogram.sizes.are_told && histogram.sizes.reference_bytes == 4);
    assert_eq!(histogram.instances(), 26);
    assert_eq!(&*histogram.rows[0].class, "java.lang.Thread");
}

#[test]
fn the_sizes_that_the_jvm_tells_count() {
    let plain = summarize(&mut reader(&Dump::small().bytes())).unwrap();
    let serial = plain.classes.get(LEAF).unwrap().serial.unwrap();
    let mut sample = Dump::small();
    let facts = "hprof-rs/facts 1\nhost=secret\nheader_bytes=8\narray_header_bytes=16\n\
                 value_header_bytes=12\nreference_bytes=8\nalignment_bytes=16\nodd\n"
        .to_owned();
    let sizes = format!("hprof-rs/sizes 1\n{serial}\n10/20");
    for (id, text) in [(0x7001, facts), (0x7002, sizes)] {
        sample.records.insert(0, string(id, text.as_bytes()));
    }
    let dump = sample.bytes();
    let histogram = Histogram::read(&mut reader(&dump)).unwrap();
    let bytes = |class: &str| {
        let mut rows = histogram.rows.iter();
        rows.find(|row| &*row.class == class).unwrap().bytes
    };
    assert!(histogram.sizes.are_told);
    // The recorded size of the class; then 12 + 2 and 12 + 8 bytes, and 16 + 3 * 8, each rounded up
    // to a multiple of 16.
    assert_eq!((bytes("app.Leaf"), bytes("boolean[]")), (80, 16));
    assert_eq!((bytes("char[]"), bytes("java.lang.Object[]")), (32, 48));
    let summary = summarize(&mut reader(&dump)).unwrap();
    let classes = bytes("java.lang.Class");
    assert_eq!(summary.object_bytes + classes, histogram.bytes());
    assert!(classes >= 160, "one class object has 20 words");
    assert_eq!(summary.strings.facts().words["host"], "secret");
}

#[test]
fn a_heap_dump_whose_length_is_zero_is_read_all_the_same() {
    let mut sample = Dump::small();
    let mut all = std::mem::take(sample.heap(0));
    all.extend(std::mem::take(sample.heap(1)));
    sample
        .records
        .retain(|record| record.tag != 0x1C && record.tag != 0x2C);
    let mut dump = segment(all);
    (dump.tag, dump.length) = (0x0C, Some(0));
    sample.records.push(dump);
    let histogram = Histogram::read(&mut reader(&sample.bytes())).unwrap();
    assert_eq!((histogram.instances(), histogram.damaged), (26, 1));
}

#[test]
fn ids_of_four_bytes_are_read() {
    let mut dump = Dump::empty(4);
    dump.version = "JAVA PROFILE 1.0.1";
    dump.instance(0x10, 0x20, &[0x30]);
    dump.object_array(0x18, &[0x10, 0]);
    let dump = dump.bytes();
    let mut from = reader(&dump);
    let mut data = Vec::new();
    let mut elements = Vec::new();
    while let Some(event) = from.next_event().unwrap() {
        match event {
            Event::Heap(_, HeapRecord::Instance(_)) => from.read_data(&mut data).unwrap(),
            Event::Heap(_, HeapRecord::ObjectArray(_)) => {
                while let Some(id) = from.next_id().unwrap() {
                    elements.push(id);
                }
            }
            Event::Damage(damage) => panic!("{damage:?}"),
            _ => {}
        }
    }
    assert_eq!((data, elements), (vec![0, 0, 0, 0x30], vec![0x10, 0]));
}

#[test]
fn a_heap_without_a_length_ends_where_it_is_not_understood() {
    let mut dump = Dump::small();
    let at = dump.at(0x1C, 1);
    dump.records[at].length = Some(0);
    dump.heap(1).insert(1, vec![0x77, 1, 2, 3]);
    let bytes = dump.bytes();
    let mut reader = reader(&bytes);
    let mut damages = Vec::new();
    while let Some(event) = reader.next_event().unwrap() {
        if let Event::Damage(damage) = event {
            damages.push(damage.kind);
        }
    }
    // Nothing shows where the next record starts.
    let expected = [
        DamageKind::HeapLengthZero,
        DamageKind::UnknownHeapRecord { tag: 0x77 },
    ];
    assert_eq!(damages, expected);
}

/// Returns bytes, then an I/O error.
struct Failing<'b>(&'b [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(into) {
            Ok(0) => Err(std::io::Error::other("the disk")),
            read => read,
        }
    }
}

#[test]
fn a_disk_that_fails_is_not_the_end_of_an_object() {
    let bytes = Dump::small().bytes();
    let name = bytes.windows(8).position(|bytes| bytes == b"\0m\0a\0i\0n");
    let cut = &bytes[..name.unwrap() + 3];
    let data = |from: Box<dyn Read>| {
        let mut reader = DumpReader::new(from).unwrap();
        loop {
            if let Some(Event::Heap(_, HeapRecord::PrimitiveArray(array))) = reader.next_event()? {
                if array.object == NAME_CHARS {
                    let mut data = Vec::new();
                    return reader.read_data(&mut data).map(|()| data);
                }
            }
        }
    };
    assert_eq!(data(Box::new(cut)).unwrap(), b"\0m\0");
    let failed = data(Box::new(Failing(cut)));
    assert!(matches!(failed, Err(ReadError::Io { .. })), "{failed:?}");
}
